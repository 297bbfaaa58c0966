# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The parameters of the bridge, as one table.

The fields of `Settings`, with those of the classes below it, are the table: declaration,
validation (`setting_rules`), the YAML file in ``config/`` and the page in ``docs/`` all come from
it.  No ROS is needed to read it.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import Field
from dataclasses import fields

from urlab_ros_bridge.ros.bag_settings import BagSettings
from urlab_ros_bridge.ros.camera_settings import CameraSettings
from urlab_ros_bridge.ros.command_settings import CommandSettings
from urlab_ros_bridge.ros.description_settings import DescriptionSettings
from urlab_ros_bridge.ros.lockstep_settings import LockstepSettings
from urlab_ros_bridge.ros.setting_row import parameter

_STDDEV_TEXT = 'A negative value: take what the server tells about the robot, else 0 (unknown).'


@dataclass(frozen=True)
class Settings(
    DescriptionSettings, CameraSettings, CommandSettings, LockstepSettings, BagSettings
):
    """The values of all parameters at one moment; a change makes a new object."""

    host: str = parameter('127.0.0.1', 'Machine of the simulation server.', group='Connection')
    rpc_port: int = parameter(
        5559, "Port of the server's request socket.", group='Connection', low=1, high=65535
    )
    state_port: int = parameter(
        5555, "Port of the server's state stream.", group='Connection', low=1, high=65535
    )
    rpc_timeout: float = parameter(
        2.0, 'Wait this long for a reply (s).', group='Connection', low=0.05, high=60.0
    )
    observe_only: bool = parameter(
        False,
        'Listen to the state stream and send no request at all. For servers that allow '
        'one session only (stock URLab), so that another client keeps its session. Services and '
        'commands are refused, and sensors are published without type and frame.',
        group='Connection',
    )
    step_mode: str = parameter(
        'live',
        'Mode asked for at every connection. "live": the server steps in real time. '
        '"keep": leave the mode as it is.',
        group='Connection',
        choices=('live', 'keep'),
        live=True,
    )
    stream: str = parameter(
        'auto',
        'What to decode: "rows" (one message a joint and sensor), "state_full" (one '
        'snapshot a tick), or "auto": rows, and snapshots while no rows come.',
        group='Connection',
        choices=('auto', 'rows', 'state_full'),
    )

    robots: tuple[str, ...] = parameter(
        ('auto',), 'Robots to bridge, by prefix or actor id; ["auto"] takes all.', group='Names'
    )
    namespace_robots: str = parameter(
        'auto',
        'Put a robot\'s topics under its prefix. "auto": only when there are several robots.',
        group='Names',
        choices=('auto', 'always', 'never'),
    )
    frame_prefix: str = parameter(
        '',
        "Put before every frame name of a robot; {prefix} stands for the robot's prefix (in "
        'YAML quote the value). Empty: plain names, and a robot with a namespace has its '
        'transforms on tf below that namespace. Else all transforms are on /tf.',
        group='Names',
    )
    base_frame: str = parameter(
        '',
        "Frame of the base. Empty: the server's choice, else base_link.",
        group='Names',
        frame='optional',
    )
    footprint_frame: str = parameter(
        'base_footprint',
        'Frame of the base projected to the floor.',
        group='Names',
        frame='required',
    )
    odom_frame: str = parameter(
        'odom',
        'Frame of odometry; its origin is that of the world.',
        group='Names',
        frame='required',
    )
    map_frame: str = parameter(
        'map', 'Frame of the world: ground truth and entities.', group='Names', frame='required'
    )

    clock_rate: float = parameter(
        100.0,
        'Limit for /clock (Hz of wall time), 0: every tick. A pause, a step and a reset '
        'are always published.',
        group='What is published',
        low=0.0,
        high=10000.0,
        live=True,
    )
    joint_state_rate: float = parameter(
        0.0,
        'Limit for joint_states (Hz of simulation time), 0: every tick.',
        group='What is published',
        low=0.0,
        high=10000.0,
        live=True,
    )
    odom_rate: float = parameter(
        0.0,
        'Limit for odom, its transform and the ground truth (Hz of simulation time), '
        '0: every tick.',
        group='What is published',
        low=0.0,
        high=10000.0,
        live=True,
    )
    sensor_rate: float = parameter(
        0.0,
        'Limit for every other sensor topic (Hz of simulation time), 0: every tick.',
        group='What is published',
        low=0.0,
        high=10000.0,
        live=True,
    )
    entity_rate: float = parameter(
        0.0,
        'Limit for every entity pose (Hz of simulation time), 0: every tick.',
        group='What is published',
        low=0.0,
        high=10000.0,
        live=True,
    )
    publish_tf: bool = parameter(
        True, 'Publish the transform odom_frame -> base_frame.', group='What is published'
    )
    publish_footprint: bool = parameter(
        True, 'Publish the transform base_frame -> footprint_frame.', group='What is published'
    )
    publish_sensor_frames: bool = parameter(
        True,
        'Publish static transforms of sensors and cameras that the model fixes to a body.',
        group='What is published',
    )
    publish_map_to_odom: bool = parameter(
        False,
        'Publish the static identity map_frame -> odom_frame. Never together with a '
        'localisation node such as AMCL.',
        group='What is published',
    )
    publish_ground_truth: bool = parameter(
        True, 'Publish ground_truth/pose.', group='What is published'
    )
    simulation_interfaces: bool = parameter(
        True,
        'Offer the standard services of simulators, those of the package simulation_interfaces.',
        group='What is published',
    )
    gps_origin: tuple[float, ...] = parameter(
        (-1.0,),
        "Where on earth the world's origin is: latitude, longitude (deg, WGS 84), altitude (m); x "
        'is east, y is north. One negative number: nowhere, so that there is no gps/fix.',
        group='What is published',
        length=3,
    )
    gps_rate: float = parameter(
        10.0,
        'Limit for gps/fix (Hz of simulation time), 0: every tick.',
        group='What is published',
        low=0.0,
        high=10000.0,
        live=True,
    )
    publish_entities: bool = parameter(
        True,
        'Publish entities/NAME/pose for every movable body that is not a robot.',
        group='What is published',
    )

    cmd_vel_type: str = parameter(
        'auto',
        'Message type of cmd_vel. "auto": twist on Jazzy and older, else twist_stamped.',
        group='Commands',
        choices=('auto', 'twist', 'twist_stamped'),
    )
    cmd_vel_timeout: float = parameter(
        0.5,
        'The robot stops when no new cmd_vel came for this long (s of simulation time).',
        group='Commands',
        low=0.01,
        high=60.0,
        live=True,
    )
    cmd_vel_max_age: float = parameter(
        0.5,
        'Refuse a stamped cmd_vel that is older than this, or newer than now by more than '
        'this (s of simulation time); 0: accept all. A zero stamp is always accepted.',
        group='Commands',
        low=0.0,
        high=3600.0,
        live=True,
    )
    max_linear_speed: float = parameter(
        0.0,
        "Limit for the linear speed of cmd_vel (m/s), 0: the server's limit alone.",
        group='Commands',
        low=0.0,
        high=1000.0,
        live=True,
    )
    max_angular_speed: float = parameter(
        0.0,
        "Limit for the yaw rate of cmd_vel (rad/s), 0: the server's limit alone.",
        group='Commands',
        low=0.0,
        high=1000.0,
        live=True,
    )

    pose_stddev: tuple[float, ...] = parameter(
        (-1.0,),
        'Standard deviations of the odometry pose: x, y, z (m), roll, pitch, yaw (rad). '
        + _STDDEV_TEXT,
        group='Covariances',
        name='covariance.pose_stddev',
        length=6,
    )
    twist_stddev: tuple[float, ...] = parameter(
        (-1.0,),
        'Standard deviations of the odometry twist: x, y, z (m/s), roll, pitch, yaw '
        '(rad/s). ' + _STDDEV_TEXT,
        group='Covariances',
        name='covariance.twist_stddev',
        length=6,
    )
    orientation_stddev: float = parameter(
        -1.0,
        "Standard deviation of an IMU's orientation (rad). " + _STDDEV_TEXT,
        group='Covariances',
        name='covariance.orientation_stddev',
    )
    angular_velocity_stddev: float = parameter(
        -1.0,
        "Standard deviation of an IMU's angular velocity (rad/s). " + _STDDEV_TEXT,
        group='Covariances',
        name='covariance.angular_velocity_stddev',
    )
    linear_acceleration_stddev: float = parameter(
        -1.0,
        "Standard deviation of an IMU's linear acceleration (m/s^2). " + _STDDEV_TEXT,
        group='Covariances',
        name='covariance.linear_acceleration_stddev',
    )
    magnetic_field_stddev: float = parameter(
        -1.0,
        'Standard deviation of a magnetometer (T). ' + _STDDEV_TEXT,
        group='Covariances',
        name='covariance.magnetic_field_stddev',
    )


def parameter_name(row: Field) -> str:
    """Return the ROS name of a row."""
    return row.metadata['name'] or row.name


# The fields of a base class come first, but read best last.
_LAST = (CommandSettings, LockstepSettings, BagSettings)
_ROWS = sorted(
    fields(Settings),
    key=lambda row: max((row.name in part.__annotations__) * n for n, part in enumerate(_LAST, 1)),
)
TABLE: dict[str, Field] = {parameter_name(row): row for row in _ROWS}
