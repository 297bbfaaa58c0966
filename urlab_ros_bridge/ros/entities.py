# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""entities/<name>/pose: movable bodies that belong to no robot, in the world frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from urlab_ros_bridge.ros.convert import PoseStampedTemplate
from urlab_ros_bridge.ros.convert.frames import wxyz_to_xyzw
from urlab_ros_bridge.ros.feed import Feed
from urlab_ros_bridge.ros.feed import Publishers
from urlab_ros_bridge.ros.names import ros_names
from urlab_ros_bridge.ros.settings import Settings
from urlab_ros_bridge.ros.state import EntityPose


def entity_feeds(
    entities: Mapping[str, EntityPose], publishers: Publishers, settings: Settings
) -> list[Feed]:
    """Make one topic for each entity."""
    names = ros_names(entities)
    return [
        _feed(f'entities/{names[name]}/pose', state, publishers, settings)
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
    )
