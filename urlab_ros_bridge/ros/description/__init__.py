# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What robots look like: URDF, links and shapes from the compiled model.

mujoco itself is not imported: the caller has the model already.
"""

from urlab_ros_bridge.ros.description.geometry import Geometry
from urlab_ros_bridge.ros.description.geometry import Kind
from urlab_ros_bridge.ros.description.geometry import Shape
from urlab_ros_bridge.ros.description.links import Joint
from urlab_ros_bridge.ros.description.links import Link
from urlab_ros_bridge.ros.description.links import Skeleton
from urlab_ros_bridge.ros.description.meshes import MeshesUnwritable
from urlab_ros_bridge.ros.description.meshes import MeshFiles
from urlab_ros_bridge.ros.description.skeleton import build_skeleton
from urlab_ros_bridge.ros.description.spatial import Pose
from urlab_ros_bridge.ros.description.urdf import robot_description

__all__ = [
    'Geometry',
    'Joint',
    'Kind',
    'Link',
    'MeshFiles',
    'MeshesUnwritable',
    'Pose',
    'Shape',
    'Skeleton',
    'build_skeleton',
    'robot_description',
]
