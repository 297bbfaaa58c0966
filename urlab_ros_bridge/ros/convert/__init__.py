# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
From the numbers of a simulator to ROS messages.

For each message a pure function ``x_to_ros(...)`` and a template class ``XTemplate`` whose
``update`` gives the same message serialised.  Frames, units and signs are in
docs/geometry_conventions.md.
"""

from urlab_ros_bridge.ros.convert.base import check_stamp
from urlab_ros_bridge.ros.convert.base import header_to_ros
from urlab_ros_bridge.ros.convert.base import MessageTemplate
from urlab_ros_bridge.ros.convert.base import time_to_ros
from urlab_ros_bridge.ros.convert.clock import clock_to_ros
from urlab_ros_bridge.ros.convert.clock import ClockTemplate
from urlab_ros_bridge.ros.convert.covariance import diagonal
from urlab_ros_bridge.ros.convert.covariance import isotropic
from urlab_ros_bridge.ros.convert.covariance import pose_or_twist
from urlab_ros_bridge.ros.convert.errors import BadScan
from urlab_ros_bridge.ros.convert.errors import BadStamp
from urlab_ros_bridge.ros.convert.errors import ConvertError
from urlab_ros_bridge.ros.convert.errors import WrongLength
from urlab_ros_bridge.ros.convert.frame_tree import FrameTree
from urlab_ros_bridge.ros.convert.frame_tree import MovingBody
from urlab_ros_bridge.ros.convert.frame_tree import optical_frame
from urlab_ros_bridge.ros.convert.frame_tree import static_transforms
from urlab_ros_bridge.ros.convert.frame_tree import StaticTransform
from urlab_ros_bridge.ros.convert.imu import imu_to_ros
from urlab_ros_bridge.ros.convert.imu import ImuTemplate
from urlab_ros_bridge.ros.convert.imu import magnetic_field_to_ros
from urlab_ros_bridge.ros.convert.imu import MagneticFieldTemplate
from urlab_ros_bridge.ros.convert.joint_state import joint_state_to_ros
from urlab_ros_bridge.ros.convert.joint_state import JointStateTemplate
from urlab_ros_bridge.ros.convert.laser import laser_scan_to_ros
from urlab_ros_bridge.ros.convert.laser import LaserScanTemplate
from urlab_ros_bridge.ros.convert.laser import range_to_ros
from urlab_ros_bridge.ros.convert.laser import RangeTemplate
from urlab_ros_bridge.ros.convert.laser import ScanGeometry
from urlab_ros_bridge.ros.convert.odometry import odometry_to_ros
from urlab_ros_bridge.ros.convert.odometry import odometry_values
from urlab_ros_bridge.ros.convert.odometry import OdometryTemplate
from urlab_ros_bridge.ros.convert.sensor_stamped import sensor_to_ros
from urlab_ros_bridge.ros.convert.sensor_stamped import SensorStampedTemplate
from urlab_ros_bridge.ros.convert.sensor_table import sensor_kind
from urlab_ros_bridge.ros.convert.sensor_table import SENSOR_KINDS
from urlab_ros_bridge.ros.convert.sensor_table import SensorKind
from urlab_ros_bridge.ros.convert.sensors import describe_sensors
from urlab_ros_bridge.ros.convert.sensors import group_sensors
from urlab_ros_bridge.ros.convert.sensors import Sensor
from urlab_ros_bridge.ros.convert.sensors import SensorGroups
from urlab_ros_bridge.ros.convert.sensors import single_template
from urlab_ros_bridge.ros.convert.sensors import SiteSensors
from urlab_ros_bridge.ros.convert.stamped import point_to_ros
from urlab_ros_bridge.ros.convert.stamped import PointStampedTemplate
from urlab_ros_bridge.ros.convert.stamped import pose_to_ros
from urlab_ros_bridge.ros.convert.stamped import PoseStampedTemplate
from urlab_ros_bridge.ros.convert.stamped import quaternion_to_ros
from urlab_ros_bridge.ros.convert.stamped import QuaternionStampedTemplate
from urlab_ros_bridge.ros.convert.stamped import vector3_to_ros
from urlab_ros_bridge.ros.convert.stamped import Vector3StampedTemplate
from urlab_ros_bridge.ros.convert.transform import static_transforms_to_ros
from urlab_ros_bridge.ros.convert.transform import TFTemplate
from urlab_ros_bridge.ros.convert.transform import transform_to_ros
from urlab_ros_bridge.ros.convert.transform import transforms_to_ros
from urlab_ros_bridge.ros.convert.wrench import twist_to_ros
from urlab_ros_bridge.ros.convert.wrench import TwistStampedTemplate
from urlab_ros_bridge.ros.convert.wrench import wrench_to_ros
from urlab_ros_bridge.ros.convert.wrench import WrenchStampedTemplate

__all__ = [
    'SENSOR_KINDS',
    'BadScan',
    'BadStamp',
    'ClockTemplate',
    'ConvertError',
    'FrameTree',
    'ImuTemplate',
    'JointStateTemplate',
    'LaserScanTemplate',
    'MagneticFieldTemplate',
    'MessageTemplate',
    'MovingBody',
    'OdometryTemplate',
    'PointStampedTemplate',
    'PoseStampedTemplate',
    'QuaternionStampedTemplate',
    'RangeTemplate',
    'ScanGeometry',
    'Sensor',
    'SensorGroups',
    'SensorKind',
    'SensorStampedTemplate',
    'SiteSensors',
    'StaticTransform',
    'TFTemplate',
    'TwistStampedTemplate',
    'Vector3StampedTemplate',
    'WrenchStampedTemplate',
    'WrongLength',
    'check_stamp',
    'clock_to_ros',
    'describe_sensors',
    'diagonal',
    'group_sensors',
    'header_to_ros',
    'imu_to_ros',
    'isotropic',
    'joint_state_to_ros',
    'laser_scan_to_ros',
    'magnetic_field_to_ros',
    'odometry_to_ros',
    'odometry_values',
    'optical_frame',
    'point_to_ros',
    'pose_or_twist',
    'pose_to_ros',
    'quaternion_to_ros',
    'range_to_ros',
    'sensor_kind',
    'sensor_to_ros',
    'single_template',
    'static_transforms',
    'static_transforms_to_ros',
    'time_to_ros',
    'transform_to_ros',
    'transforms_to_ros',
    'twist_to_ros',
    'vector3_to_ros',
    'wrench_to_ros',
]
