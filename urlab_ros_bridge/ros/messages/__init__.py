# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
From the numbers of a simulator to ROS messages.

For each message a pure function ``x_to_ros(...)`` and a template class ``XTemplate`` whose
``update`` gives the same message serialised.  Frames, units and signs are in
docs/geometry_conventions.md.
"""

from urlab_ros_bridge.ros.messages.base import BadScan
from urlab_ros_bridge.ros.messages.base import BadStamp
from urlab_ros_bridge.ros.messages.base import check_stamp
from urlab_ros_bridge.ros.messages.base import clock_to_ros
from urlab_ros_bridge.ros.messages.base import ClockTemplate
from urlab_ros_bridge.ros.messages.base import ConvertError
from urlab_ros_bridge.ros.messages.base import diagonal
from urlab_ros_bridge.ros.messages.base import header_to_ros
from urlab_ros_bridge.ros.messages.base import isotropic
from urlab_ros_bridge.ros.messages.base import pose_or_twist
from urlab_ros_bridge.ros.messages.base import RosMessageTemplate
from urlab_ros_bridge.ros.messages.base import time_to_ros
from urlab_ros_bridge.ros.messages.base import WrongLength
from urlab_ros_bridge.ros.messages.geometry import point_to_ros
from urlab_ros_bridge.ros.messages.geometry import PointStampedTemplate
from urlab_ros_bridge.ros.messages.geometry import pose_to_ros
from urlab_ros_bridge.ros.messages.geometry import PoseStampedTemplate
from urlab_ros_bridge.ros.messages.geometry import quaternion_to_ros
from urlab_ros_bridge.ros.messages.geometry import QuaternionStampedTemplate
from urlab_ros_bridge.ros.messages.geometry import static_transforms_to_ros
from urlab_ros_bridge.ros.messages.geometry import TFTemplate
from urlab_ros_bridge.ros.messages.geometry import transform_to_ros
from urlab_ros_bridge.ros.messages.geometry import transforms_to_ros
from urlab_ros_bridge.ros.messages.geometry import twist_to_ros
from urlab_ros_bridge.ros.messages.geometry import TwistStampedTemplate
from urlab_ros_bridge.ros.messages.geometry import vector3_to_ros
from urlab_ros_bridge.ros.messages.geometry import Vector3StampedTemplate
from urlab_ros_bridge.ros.messages.geometry import wrench_to_ros
from urlab_ros_bridge.ros.messages.geometry import WrenchStampedTemplate
from urlab_ros_bridge.ros.messages.imu import imu_to_ros
from urlab_ros_bridge.ros.messages.imu import ImuTemplate
from urlab_ros_bridge.ros.messages.imu import magnetic_field_to_ros
from urlab_ros_bridge.ros.messages.imu import MagneticFieldTemplate
from urlab_ros_bridge.ros.messages.joint_state import joint_state_to_ros
from urlab_ros_bridge.ros.messages.joint_state import JointStateTemplate
from urlab_ros_bridge.ros.messages.laser import laser_scan_to_ros
from urlab_ros_bridge.ros.messages.laser import LaserScanTemplate
from urlab_ros_bridge.ros.messages.laser import range_to_ros
from urlab_ros_bridge.ros.messages.laser import RangeTemplate
from urlab_ros_bridge.ros.messages.laser import ScanGeometry
from urlab_ros_bridge.ros.messages.odometry import odometry_to_ros
from urlab_ros_bridge.ros.messages.odometry import odometry_values
from urlab_ros_bridge.ros.messages.odometry import OdometryTemplate
from urlab_ros_bridge.ros.messages.urlab import sensor_to_ros
from urlab_ros_bridge.ros.messages.urlab import SensorStampedTemplate

__all__ = [
    'BadScan',
    'BadStamp',
    'ClockTemplate',
    'ConvertError',
    'ImuTemplate',
    'JointStateTemplate',
    'LaserScanTemplate',
    'MagneticFieldTemplate',
    'OdometryTemplate',
    'PointStampedTemplate',
    'PoseStampedTemplate',
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
    'clock_to_ros',
    'diagonal',
    'header_to_ros',
    'imu_to_ros',
    'isotropic',
    'joint_state_to_ros',
    'laser_scan_to_ros',
    'magnetic_field_to_ros',
    'odometry_to_ros',
    'odometry_values',
    'point_to_ros',
    'pose_or_twist',
    'pose_to_ros',
    'quaternion_to_ros',
    'range_to_ros',
    'sensor_to_ros',
    'static_transforms_to_ros',
    'time_to_ros',
    'transform_to_ros',
    'transforms_to_ros',
    'twist_to_ros',
    'vector3_to_ros',
    'wrench_to_ros',
]
