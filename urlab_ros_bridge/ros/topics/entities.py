# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""entities/<name>/pose: movable bodies that belong to no robot, in the world frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from urlab_ros_bridge.geometry import wxyz_to_xyzw
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feed import Feed
from urlab_ros_bridge.ros.features.feed import Publishers
from urlab_ros_bridge.ros.features.robot_topics import WorldTopics
from urlab_ros_bridge.ros.features.tick_state import EntityPose
from urlab_ros_bridge.ros.messages import PoseStampedTemplate
from urlab_ros_bridge.ros.parameters.checks import rate
from urlab_ros_bridge.ros.parameters.settings import Settings
from urlab_ros_bridge.ros.plan.names import ros_names
from urlab_ros_bridge.schema import key


@dataclass(frozen=True)
class EntityParameters:
    """Whether and how often poses of entities are published."""

    publish_entities: bool = key(
        True,
        'Publish entities/NAME/pose for every movable body that is not a robot.',
    )
    entity_rate: float = key(
        50.0,
        'Maximum rate of each entity pose (Hz of simulation time), 0: every tick.',
        low=0.0,
        check=rate,
        high=10000.0,
        live=True,
    )


def world_feeds(world: WorldTopics) -> list[Feed]:
    """Make one topic for each entity."""
    entities = world.state.entities
    names = ros_names(entities)
    return [
        _feed(f'entities/{names[name]}/pose', state, world.publishers, world.settings)
        for name, state in entities.items()
    ]


def _feed(topic: str, state: EntityPose, publishers: Publishers, settings: Settings) -> Feed:
    template = PoseStampedTemplate(settings.map_frame)

    def build(stamp_ns: int) -> Any:
        pose = state.pose()
        if pose is None:
            return None
        return template.update(stamp_ns, pose[0], wxyz_to_xyzw(pose[1].tolist()))

    return Feed(
        topic,
        publishers.get(template.message_type, topic),
        build,
        wire=state.topics,
        rate_name='entity_rate',
        each_instant=True,
    )


POSE = Topic(
    'entities/{entity}/pose',
    ('geometry_msgs/msg/PoseStamped',),
    'sensor',
    'movable bodies that are not robots',
    'entity_rate',
    'publish_entities',
)
FEATURE = Feature(
    'entities',
    EntityParameters,
    group='What is published',
    topics=(POSE,),
    world_feeds=world_feeds,
)
