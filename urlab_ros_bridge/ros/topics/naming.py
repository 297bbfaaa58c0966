# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The feature with the parameters for robots, namespaces and frames."""

from __future__ import annotations

from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.plan.parameters import frames_differ
from urlab_ros_bridge.ros.plan.parameters import NamesParameters

FEATURE = Feature('names', NamesParameters, group='Names', check=frames_differ)
