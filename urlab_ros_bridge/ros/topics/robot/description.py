# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""robot_description: the URDF of each robot."""

from __future__ import annotations

from dataclasses import dataclass

from std_msgs.msg import String

from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feed import join
from urlab_ros_bridge.ros.parameters.settings import Settings
from urlab_ros_bridge.ros.plan.plan import WorldPlan
from urlab_ros_bridge.schema import key


@dataclass(frozen=True)
class DescriptionParameters:
    """Whether a robot is described, and where its meshes are."""

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


def description_messages(plan: WorldPlan, settings: Settings) -> dict[str, String]:
    """Return the robot_description of each robot by topic."""
    return {
        join(robot.namespace, 'robot_description'): String(data=robot.appearance.urdf)
        for robot in plan.robots
        if robot.appearance.urdf
    }


ROBOT_DESCRIPTION = Topic(
    '{robot}/robot_description',
    ('std_msgs/msg/String',),
    'latched',
    '',
    'once',
    'publish_robot_description',
)
FEATURE = Feature(
    'robot description',
    DescriptionParameters,
    group='Robot description and markers',
    topics=(ROBOT_DESCRIPTION,),
    latched=description_messages,
)
