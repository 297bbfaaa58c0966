# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What robots look like: URDF, links and shapes from the reading of the model."""

from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.model.colors import Colors
from urlab_ros_bridge.ros.plan.description.geometry import Geometry
from urlab_ros_bridge.ros.plan.description.geometry import Shape
from urlab_ros_bridge.ros.plan.description.geometry import ShapeKind
from urlab_ros_bridge.ros.plan.description.links import LinkFrame
from urlab_ros_bridge.ros.plan.description.links import Skeleton
from urlab_ros_bridge.ros.plan.description.links import UrdfJoint
from urlab_ros_bridge.ros.plan.description.meshes import MeshesUnwritable
from urlab_ros_bridge.ros.plan.description.meshes import MeshFiles
from urlab_ros_bridge.ros.plan.description.skeleton import build_skeleton
from urlab_ros_bridge.ros.plan.description.urdf import robot_description

__all__ = [
    'Colors',
    'Geometry',
    'LinkFrame',
    'MeshFiles',
    'MeshesUnwritable',
    'Pose',
    'Shape',
    'ShapeKind',
    'Skeleton',
    'UrdfJoint',
    'build_skeleton',
    'robot_description',
]
