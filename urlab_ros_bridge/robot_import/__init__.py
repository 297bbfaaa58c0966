# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Robots from their URDF, xacro or name, as MJCF, meshes and a sidecar."""

from urlab_ros_bridge.robot_import.errors import RobotImportError
from urlab_ros_bridge.robot_import.options import ImportOptions
from urlab_ros_bridge.robot_import.options import is_robot_description

__all__ = ['ImportOptions', 'RobotImportError', 'is_robot_description']
