# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The bundled worlds: each needs files of its own for RViz and Foxglove."""

from pathlib import Path

import urlab_ros_bridge.models

WORLDS = sorted(path.stem for path in Path(urlab_ros_bridge.models.__file__).parent.glob('*.yaml'))
