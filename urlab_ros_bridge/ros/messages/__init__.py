# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
From the numbers of a simulator to ROS messages.

What is published in each tick is a template (`RosMessageTemplate`), which rewrites the bytes of a
serialised message; what is published rarely is an ordinary object from a function ``x_to_ros``.
Frames, units and signs are in docs/geometry_conventions.md.
"""

from urlab_ros_bridge.ros.messages.base import BadScan
from urlab_ros_bridge.ros.messages.base import BadStamp
from urlab_ros_bridge.ros.messages.base import check_stamp
from urlab_ros_bridge.ros.messages.base import ClockTemplate
from urlab_ros_bridge.ros.messages.base import ConstantTemplate
from urlab_ros_bridge.ros.messages.base import ConvertError
from urlab_ros_bridge.ros.messages.base import diagonal
from urlab_ros_bridge.ros.messages.base import header_to_ros
from urlab_ros_bridge.ros.messages.base import isotropic
from urlab_ros_bridge.ros.messages.base import pose_or_twist
from urlab_ros_bridge.ros.messages.base import RosMessageTemplate
from urlab_ros_bridge.ros.messages.base import time_to_ros
from urlab_ros_bridge.ros.messages.base import WrongLength
from urlab_ros_bridge.ros.messages.geometry import PointStampedTemplate
from urlab_ros_bridge.ros.messages.geometry import pose_to_ros
from urlab_ros_bridge.ros.messages.geometry import PoseStampedTemplate
from urlab_ros_bridge.ros.messages.geometry import PosesTemplate
from urlab_ros_bridge.ros.messages.geometry import QuaternionStampedTemplate
from urlab_ros_bridge.ros.messages.geometry import static_transforms_to_ros
from urlab_ros_bridge.ros.messages.geometry import TFTemplate
from urlab_ros_bridge.ros.messages.geometry import TwistStampedTemplate
from urlab_ros_bridge.ros.messages.geometry import Vector3StampedTemplate
from urlab_ros_bridge.ros.messages.geometry import WrenchStampedTemplate
from urlab_ros_bridge.ros.messages.imu import ImuTemplate
from urlab_ros_bridge.ros.messages.imu import MagneticFieldTemplate
from urlab_ros_bridge.ros.messages.joint_state import JointStateTemplate
from urlab_ros_bridge.ros.messages.laser import LaserScanTemplate
from urlab_ros_bridge.ros.messages.laser import RangeTemplate
from urlab_ros_bridge.ros.messages.laser import ScanGeometry
from urlab_ros_bridge.ros.messages.odometry import odometry_values
from urlab_ros_bridge.ros.messages.odometry import OdometryTemplate
from urlab_ros_bridge.ros.messages.urlab import SensorStampedTemplate

__all__ = [
    'BadScan',
    'BadStamp',
    'ClockTemplate',
    'ConstantTemplate',
    'ConvertError',
    'ImuTemplate',
    'JointStateTemplate',
    'LaserScanTemplate',
    'MagneticFieldTemplate',
    'OdometryTemplate',
    'PointStampedTemplate',
    'PoseStampedTemplate',
    'PosesTemplate',
    'QuaternionStampedTemplate',
    'RangeTemplate',
    'RosMessageTemplate',
    'ScanGeometry',
    'SensorStampedTemplate',
    'TFTemplate',
    'TwistStampedTemplate',
    'Vector3StampedTemplate',
    'WrenchStampedTemplate',
    'WrongLength',
    'check_stamp',
    'diagonal',
    'header_to_ros',
    'isotropic',
    'odometry_values',
    'pose_or_twist',
    'pose_to_ros',
    'static_transforms_to_ros',
    'time_to_ros',
]
