# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The contract of the bridge as tables: topics and actions; frames are in `frame_table`.

Names are as users see them: a leading slash is absolute, ``~/`` is below the name of the node, and
everything else below its namespace.  ``{robot}/`` is the namespace of a robot, and vanishes where
robots have none.  The page docs/interfaces.md is made from these tables, and
test/integration/test_interfaces.py holds them against a running bridge.  No ROS is needed here.
"""

from __future__ import annotations

from urlab_ros_bridge.ros.interface_rows import Action
from urlab_ros_bridge.ros.interface_rows import Topic

_POSE = 'geometry_msgs/msg/PoseStamped'
_IMU = 'sensor_msgs/msg/Imu'
_MAGNETIC_FIELD = 'sensor_msgs/msg/MagneticField'
_SCAN = 'sensor_msgs/msg/LaserScan'
_SINGLES = (
    'geometry_msgs/msg/PointStamped',
    'geometry_msgs/msg/Vector3Stamped',
    'geometry_msgs/msg/QuaternionStamped',
    'urlab_msgs/msg/SensorStamped',
)
_MOVING = 'publish_tf, publish_footprint, publish_link_tf'
_STILL = 'publish_sensor_frames, publish_link_tf'
_SPACED = 'robots with namespace, unless frame_prefix is set'
_TF = 'tf2_msgs/msg/TFMessage'
_MARKERS = 'visualization_msgs/msg/MarkerArray'
_COMPRESSED = 'sensor_msgs/msg/CompressedImage'
_CAMERAS = 'publish_cameras'
_TEXT = 'std_msgs/msg/String'
_OWN_RATE = "the camera's"

TOPICS: tuple[Topic, ...] = (
    Topic('/clock', ('rosgraph_msgs/msg/Clock',), 'clock', '', 'clock_rate'),
    Topic(
        '/tf',
        (_TF,),
        'transform',
        'robots without namespace',
        'odom_rate, link_tf_rate',
        _MOVING,
    ),
    Topic(
        '{robot}/tf',
        (_TF,),
        'transform',
        _SPACED,
        'odom_rate, link_tf_rate',
        _MOVING,
    ),
    Topic(
        '/tf_static',
        (_TF,),
        'latched',
        'robots without namespace, cameras of the scene',
        'once',
        _STILL,
    ),
    Topic(
        '{robot}/tf_static',
        (_TF,),
        'latched',
        _SPACED,
        'once',
        _STILL,
    ),
    Topic('{robot}/odom', ('nav_msgs/msg/Odometry',), 'sensor', 'floating base', 'odom_rate'),
    Topic(
        '{robot}/ground_truth/pose',
        (_POSE,),
        'sensor',
        'floating base',
        'odom_rate',
        'publish_ground_truth',
    ),
    Topic(
        '{robot}/gps/fix',
        ('sensor_msgs/msg/NavSatFix',),
        'sensor',
        'floating base, with gps_origin',
        'gps_rate',
    ),
    Topic(
        '{robot}/joint_states',
        ('sensor_msgs/msg/JointState',),
        'sensor',
        'hinge or slide joints',
        'joint_state_rate',
    ),
    Topic(
        '{robot}/imu/data', (_IMU,), 'sensor', 'one site with gyro or accelerometer', 'sensor_rate'
    ),
    Topic('{robot}/imu/{site}/data', (_IMU,), 'sensor', 'several such sites', 'sensor_rate'),
    Topic('{robot}/imu/mag', (_MAGNETIC_FIELD,), 'sensor', 'one magnetometer', 'sensor_rate'),
    Topic(
        '{robot}/imu/{site}/mag',
        (_MAGNETIC_FIELD,),
        'sensor',
        'several magnetometers',
        'sensor_rate',
    ),
    Topic('{robot}/scan', (_SCAN,), 'sensor', 'one planar scanner', 'sensor_rate'),
    Topic('{robot}/scan/{scanner}', (_SCAN,), 'sensor', 'several scanners', 'sensor_rate'),
    Topic(
        '{robot}/{site}/wrench',
        ('geometry_msgs/msg/WrenchStamped',),
        'sensor',
        'force or torque sensors',
        'sensor_rate',
    ),
    Topic(
        '{robot}/{site}/twist',
        ('geometry_msgs/msg/TwistStamped',),
        'sensor',
        'velocimeters',
        'sensor_rate',
    ),
    Topic(
        '{robot}/{sensor}/range',
        ('sensor_msgs/msg/Range',),
        'sensor',
        'rangefinders',
        'sensor_rate',
    ),
    Topic('{robot}/sensor/{sensor}', _SINGLES, 'sensor', 'all other sensors', 'sensor_rate'),
    Topic(
        '{robot}/robot_description',
        (_TEXT,),
        'latched',
        '',
        'once',
        'publish_robot_description',
    ),
    Topic(
        'entities/{entity}/pose',
        (_POSE,),
        'sensor',
        'movable bodies that are no robot',
        'entity_rate',
        'publish_entities',
    ),
    Topic('contacts', ('urlab_msgs/msg/Contacts',), 'sensor', '', 'contact_marker_rate'),
    Topic(
        'markers/scene',
        (_MARKERS,),
        'latched',
        'shapes that stand still',
        'once, and after a jump of time',
        'publish_markers',
    ),
    Topic(
        'markers/entities',
        (_MARKERS,),
        'latched',
        'movable bodies that are no robot',
        'marker_rate',
        'publish_markers',
    ),
    Topic('markers/contacts', (_MARKERS,), 'sensor', '', 'contact_marker_rate', 'publish_markers'),
    Topic('markers/drawings', (_MARKERS,), 'sensor', '', 'contact_marker_rate', 'publish_markers'),
    Topic(
        '{robot}/{camera}/image_raw',
        ('sensor_msgs/msg/Image',),
        'image',
        'cameras',
        _OWN_RATE,
        _CAMERAS,
    ),
    Topic(
        '{robot}/{camera}/camera_info',
        ('sensor_msgs/msg/CameraInfo',),
        'sensor',
        'cameras',
        _OWN_RATE,
        _CAMERAS,
    ),
    Topic(
        '{robot}/{camera}/image_raw/compressed',
        (_COMPRESSED,),
        'image',
        'cameras of colours or labels',
        _OWN_RATE,
        _CAMERAS,
    ),
    Topic(
        '{robot}/{camera}/image_raw/compressedDepth',
        (_COMPRESSED,),
        'image',
        'depth cameras',
        _OWN_RATE,
        _CAMERAS,
    ),
    Topic(
        '{robot}/{camera}/points',
        ('sensor_msgs/msg/PointCloud2',),
        'image',
        'depth cameras',
        _OWN_RATE,
        _CAMERAS,
    ),
    Topic(
        '{robot}/{camera}/labels',
        (_TEXT,),
        'latched',
        'semantic and instance cameras',
        'once',
        _CAMERAS,
    ),
    Topic(
        '{robot}/{trajectory_controller}/controller_state',
        ('control_msgs/msg/JointTrajectoryControllerState',),
        'sensor',
        'actuators that follow trajectories',
        '50 Hz while something is under way',
    ),
    Topic('e_stop/active', ('std_msgs/msg/Bool',), 'latched', '', 'once a change'),
    Topic(
        '/diagnostics', ('diagnostic_msgs/msg/DiagnosticArray',), 'report', '', '1 Hz of wall time'
    ),
    Topic('~/statistics', ('urlab_msgs/msg/BridgeStatistics',), 'report', '', '1 Hz of wall time'),
    Topic(
        '{robot}/cmd_vel',
        ('geometry_msgs/msg/Twist', 'geometry_msgs/msg/TwistStamped'),
        'command',
        'a twist controller, or a stock server',
        'cmd_vel_type',
        incoming=True,
    ),
    Topic(
        '{robot}/joint_commands',
        ('sensor_msgs/msg/JointState',),
        'command',
        'actuators',
        incoming=True,
    ),
    Topic(
        '{robot}/forward_{field}_controller/commands',
        ('std_msgs/msg/Float64MultiArray',),
        'command',
        'actuators that take position, velocity or effort',
        incoming=True,
    ),
    Topic(
        '{robot}/{trajectory_controller}/joint_trajectory',
        ('trajectory_msgs/msg/JointTrajectory',),
        'command',
        'actuators that follow trajectories',
        incoming=True,
    ),
    Topic(
        '{robot}/wrench_command',
        ('geometry_msgs/msg/WrenchStamped',),
        'command',
        'servers with the op apply_wrench',
        incoming=True,
    ),
)

ACTIONS: tuple[Action, ...] = (
    Action(
        '{robot}/{trajectory_controller}/follow_joint_trajectory',
        'control_msgs/action/FollowJointTrajectory',
        'actuators that follow trajectories',
    ),
    Action('{robot}/{gripper}/gripper_cmd', 'control_msgs/action/GripperCommand', 'grippers'),
    Action(
        '{robot}/{gripper}/parallel_gripper_cmd',
        'control_msgs/action/ParallelGripperCommand',
        'grippers',
    ),
)
