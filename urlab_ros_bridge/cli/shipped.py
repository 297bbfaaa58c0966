# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Find the files that the package ships beside its Python code: config/ and launch/."""

from __future__ import annotations

from collections.abc import Mapping
import os
from pathlib import Path
import sys

PACKAGE = 'urlab_ros_bridge'


def shipped_file(name: str, environ: Mapping[str, str] = os.environ) -> Path:
    """
    Return the absolute path of a shipped file such as `config/bridge.yaml`.

    Looked up in the source tree, in each ROS prefix (a colcon build) and in the Python prefix (a
    pip install).  When it is nowhere, the place in the source tree is returned, so that the error
    of whoever opens it names a sensible path.
    """
    source = Path(__file__).resolve().parents[2]
    places = [source / name]
    prefixes = [*environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep), sys.prefix]
    places += [Path(prefix) / 'share' / PACKAGE / name for prefix in prefixes if prefix]
    return next((place for place in places if place.is_file()), places[0])
