# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""get_spawnables: bundled models, and model files in folders that a request names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from urlab_ros_bridge.models import object_names
from urlab_ros_bridge.models import robot_names
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface
from urlab_ros_bridge.ros.services.standard.base import PACKAGE
from urlab_ros_bridge.ros.services.standard.base import SimulationContext
from urlab_ros_bridge.ros.services.standard.base import standard
from urlab_ros_bridge.ros.services.standard.features import Feature
from urlab_ros_bridge.ros.services.standard.features import SPAWN
from urlab_ros_bridge.ros.services.standard.resources import BUNDLED
from urlab_ros_bridge.ros.services.standard.resources import MODELS
from urlab_ros_bridge.ros.services.standard.resources import path_of
from urlab_ros_bridge.ros.services.standard.results import NOT_FOUND
from urlab_ros_bridge.ros.services.standard.results import Refusal


def get_spawnables(context: SimulationContext, request: Any, response: Any) -> str:
    """List the bundled models, and the MJCF and URDF files of folders that are named."""
    message_type = load_interface(f'{PACKAGE}/msg/Spawnable')
    found = [(f'{BUNDLED}:{name}', 'bundled object') for name in object_names()]
    found += [(f'{BUNDLED}:{name}', 'bundled robot') for name in robot_names()]
    for source in request.sources:
        found += _files(source)
    for uri, description in found:
        item = message_type(description=description)
        # Version 2 of the standard has a resource in place of the URI.
        getattr(item, 'entity_resource', item).uri = uri
        response.spawnables.append(item)
    return f'{len(found)} resources; any MJCF or URDF file can be spawned, also as text'


def _files(source: str) -> Iterator[tuple[str, str]]:
    folder = path_of(source)
    if not folder.is_dir():
        raise Refusal(NOT_FOUND, f'{source} is no folder here')
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() in MODELS and path.is_file():
            yield path.as_uri(), f'file in {source}'


ENTRIES = (standard('get_spawnables', get_spawnables, {Feature.SPAWNABLES: ''}, needs=SPAWN),)
