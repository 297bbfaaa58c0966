# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""entities/<name>/pose: movable bodies that belong to no robot, in the world frame."""

from __future__ import annotations

from typing import Any

from urlab_ros_bridge.geometry import wxyz_to_xyzw
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feed import WorldTopics
from urlab_ros_bridge.ros.features.tick_state import EntityPose
from urlab_ros_bridge.ros.messages.geometry import PoseStampedTemplate
from urlab_ros_bridge.ros.plan.names import ros_names
from urlab_ros_bridge.ros.plan.parameters import EntityParameters
from urlab_ros_bridge.ros.plan.parameters import NamesParameters


def world_feeds(world: WorldTopics) -> None:
    """Make one topic for each entity."""
    entities = world.state.entities
    names = ros_names(entities)
    for name, state in entities.items():
        _feed(world, names[name], state)


def _feed(world: WorldTopics, name: str, state: EntityPose) -> None:
    template = PoseStampedTemplate(world.settings(NamesParameters).map_frame)

    def build(stamp_ns: int) -> Any:
        pose = state.pose()
        if pose is None:
            return None
        return template.update(stamp_ns, pose[0], wxyz_to_xyzw(pose[1].tolist()))

    world.feed(POSE, build, wire=state.topics, parts={'entity': name})


POSE = Topic(
    'entities/{entity}/pose',
    ('geometry_msgs/msg/PoseStamped',),
    'sensor',
    when='movable bodies that are not robots',
    rate='entity_rate',
    switch='publish_entities',
    each_instant=True,
)
FEATURE = Feature(
    'entities',
    EntityParameters,
    group='What is published',
    topics=(POSE,),
    world_feeds=world_feeds,
)
