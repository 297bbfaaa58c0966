# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What a bag was recorded from: server, world, parameters."""

from __future__ import annotations

import hashlib
import json
import os
import platform

from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.ros.parameters.settings import Settings

PACKAGE = 'urlab_ros_bridge'


def provenance(handshake: Handshake | None, settings: Settings) -> dict[str, str]:
    """Return world, versions and the parameters that are not at their defaults, as texts."""
    texts = {
        'bridge_version': _version(),
        'ros_distro': os.environ.get('ROS_DISTRO', ''),
        'python_version': platform.python_version(),
        'parameters': json.dumps(
            {
                name: getattr(settings, row.field)
                for name, row in settings.TABLE.items()
                if getattr(settings, row.field) != row.default
            }
        ),
    }
    if handshake is not None:
        texts |= {
            'world': handshake.world,
            'timestep': '' if handshake.timestep is None else repr(handshake.timestep),
            'server_version': handshake.urlab_version,
            'mujoco_version': handshake.mujoco_version,
            'robots': ', '.join(handshake.articulations),
            'model_sha256': hashlib.sha256(handshake.mjb).hexdigest() if handshake.mjb else '',
        }
    return texts


def _version() -> str:
    from importlib import metadata  # with it come email, zipfile and lzma; only bags need it

    try:
        return metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        return ''
