# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the plan: names, frames, descriptions and markers."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass

from urlab_ros_bridge.ros.parameters.checks import frame_name
from urlab_ros_bridge.ros.parameters.checks import frame_name_or_empty
from urlab_ros_bridge.ros.parameters.checks import rate_key
from urlab_ros_bridge.ros.parameters.settings import SettingsReader
from urlab_ros_bridge.ros.plan.description.control_block import INTERFACES
from urlab_ros_bridge.schema import key


def _robots(value: tuple[str, ...]) -> str:
    empty = not value or not all(value)
    return 'contains an empty name; ["auto"] takes all robots' if empty else ''


def _frame_prefix(value: str) -> str:
    wanted = 'tf2 does not allow a leading slash'
    return f'{wanted}, it must not be {value!r}' if value.startswith('/') else ''


def _interfaces(value: Sequence[str]) -> str:
    if value and len({*value} & {*INTERFACES}) == len(value):
        return ''
    return f'must be some of {", ".join(INTERFACES)}, each once, not {list(value)}'


@dataclass(frozen=True)
class NamesParameters:
    """Selection of robots, and names of namespaces and frames."""

    robots: tuple[str, ...] = key(
        ('auto',), 'Robots to bridge, by prefix or actor id; ["auto"]: all.', check=_robots
    )
    namespace_robots: str = key(
        'auto',
        'Put a robot\'s topics below its prefix. "auto": only if there are several robots.',
        choices=('auto', 'always', 'never'),
    )
    frame_prefix: str = key(
        '',
        "Prepended to every frame name of a robot; {prefix} stands for the robot's prefix (quote "
        'the value in YAML). Empty: plain names, and a robot with a namespace has its transforms '
        'on tf below that namespace. Otherwise all transforms are on /tf.',
        check=_frame_prefix,
    )
    base_frame: str = key(
        '',
        "Frame of the base. Empty: the server's choice, else base_link.",
        check=frame_name_or_empty,
    )
    footprint_frame: str = key(
        'base_footprint',
        'Frame of the base projected to the floor.',
        check=frame_name,
    )
    odom_frame: str = key(
        'odom',
        'Frame of odometry, with the origin of the world.',
        check=frame_name,
    )
    map_frame: str = key('map', 'Frame of the world: ground truth and entities.', check=frame_name)


@dataclass(frozen=True)
class Ros2ControlParameters:
    """Whether ros2_control drives the robots, and what it knows of their joints."""

    ros2_control: bool = key(
        False,
        'Serve controller_manager: robot_description has a <ros2_control> block for the hardware '
        'plugin JointStateTopicSystem, which gets the joint states of every tick. joint_states is '
        'left to joint_state_broadcaster.',
    )
    ros2_control_states: tuple[str, ...] = key(
        INTERFACES,
        'State interfaces of all joints. For a <ros2_control> block of your own, those that it '
        'declares: the hardware fails on others.',
        check=_interfaces,
    )


def frames_differ(settings: SettingsReader) -> Iterator[str]:
    """Yield frames that have the same name."""
    names = settings(NamesParameters)
    frames = {
        'base_frame': names.base_frame or 'base_link',
        'footprint_frame': names.footprint_frame,
        'odom_frame': names.odom_frame,
        'map_frame': names.map_frame,
    }
    for name, frame in frames.items():
        for other in frames:
            if frames[other] == frame and other > name:
                yield f'{name} and {other} are both {frame!r}, must differ'


@dataclass(frozen=True)
class DescriptionParameters:
    """Robot descriptions and their meshes."""

    publish_robot_description: bool = key(
        True,
        'Publish robot_description: URDF generated from the compiled model.',
    )
    mesh_directory: str = key(
        '',
        'Folder to which the meshes of the compiled model are written, for RViz to load. Empty: '
        "urlab_ros_bridge/meshes in the user's cache folder.",
    )
    mesh_uri: str = key(
        '',
        'URI prefix of mesh files, for viewers that cannot read mesh_directory: '
        '"package://my_meshes/meshes", "http://robot:8000". Empty: file:// and mesh_directory.',
    )
    description_velocity_limit: float = key(
        10.0,
        'Velocity limit in robot_description of a joint for which the model sets none (rad/s or '
        'm/s): URDF requires one, and planners such as MoveIt use it.',
        low=0.01,
        high=1000.0,
    )


@dataclass(frozen=True)
class StaticFrameParameters:
    """Switches of static transforms."""

    publish_sensor_frames: bool = key(
        True,
        'Publish static transforms of sensors and cameras that the model fixes to a body.',
    )
    publish_map_to_odom: bool = key(
        False,
        'Publish map_frame -> odom_frame: the static identity, or with odom_source wheels the '
        'transform that makes map_frame -> base_frame true. Do not use it together with a '
        'localisation node such as AMCL.',
    )


@dataclass(frozen=True)
class WheelOdometryParameters:
    """Where odometry comes from."""

    odom_source: str = key(
        'ground_truth',
        'What odom and odom_frame -> base_frame are made of: the true pose, or the joint '
        'positions of the wheels (robots with a differential, ackermann or omni drive).',
        choices=('ground_truth', 'wheels'),
    )
    wheel_stddev: float = key(
        0.01,
        'Standard deviation of the distance that a wheel measures over one metre (m); it grows '
        'with the square root of the distance. With odom_source wheels, the covariance of the '
        'pose follows from it.',
        low=0.0,
        high=1.0,
        name='covariance.wheel_stddev',
        group='Covariances',
    )

    @property
    def drifts(self) -> bool:
        """Whether the odometry frame leaves the origin of the world."""
        return self.odom_source == 'wheels'


@dataclass(frozen=True)
class MarkerParameters:
    """Switch, frame and rate of markers."""

    publish_markers: bool = key(
        True,
        'Publish markers/scene, markers/entities and markers/contacts.',
    )
    marker_frame: str = key(
        '',
        'Frame of all markers. Empty: map_frame if it is connected to the robots, else the odom '
        'frame of the first floating robot; both have the origin of the world.',
        check=frame_name_or_empty,
    )
    marker_rate: float = rate_key(10.0, 'markers/entities')


@dataclass(frozen=True)
class EntityParameters:
    """Switch and rate of entity poses."""

    publish_entities: bool = key(
        True,
        'Publish entities/NAME/pose for every movable body that is not a robot.',
    )
    entity_rate: float = rate_key(50.0, 'each entity pose')
