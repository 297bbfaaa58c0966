# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The transforms of a robot's moving links on /tf."""

from __future__ import annotations

from typing import Any

import numpy as np

from urlab_ros_bridge.ros import qos
from urlab_ros_bridge.ros.cdr import Template
from urlab_ros_bridge.ros.convert import TFTemplate
from urlab_ros_bridge.ros.convert import WrongLength
from urlab_ros_bridge.ros.description.link_poses import LinkPoses
from urlab_ros_bridge.ros.feed import Feed
from urlab_ros_bridge.ros.feed import Publishers
from urlab_ros_bridge.ros.plan import RobotPlan
from urlab_ros_bridge.ros.settings import Settings
from urlab_ros_bridge.ros.state import RobotState
from urlab_ros_bridge.ros.subscriptions import STATE_FULL
from urlab_ros_bridge.wire.stamp import NANOSECONDS


class LinkTFTemplate(TFTemplate):
    """A TFMessage of many frames, written as one table; rotations must have length one."""

    def _bind(self, template: Template) -> None:
        paths = [f'transforms[{index}]' for index in range(len(self._frames))]
        self._write_sec = template.table([f'{p}.header.stamp.sec' for p in paths], 'i4', 1)
        self._write_nanosec = template.table([f'{p}.header.stamp.nanosec' for p in paths], 'u4', 1)
        self._write_poses = template.table([f'{p}.transform' for p in paths], 'f8', 7)

    def update(self, stamp_ns: int, poses: np.ndarray) -> bytes:
        if len(poses) != len(self._frames):
            raise WrongLength(len(self._frames), len(poses))
        sec, nanosec = divmod(stamp_ns, NANOSECONDS)
        self._write_sec(sec)
        self._write_nanosec(nanosec)
        self._write_poses(poses)
        return self._to_bytes()


def link_feeds(
    plan: RobotPlan, state: RobotState, publishers: Publishers, settings: Settings
) -> list[Feed]:
    """Make the topic of a robot's moving links, if it has any."""
    links = LinkPoses(plan.look.skeleton, plan.joints)
    if not settings.publish_link_tf or not links.frames:
        return []
    template = LinkTFTemplate(links.frames)

    def build(stamp_ns: int) -> Any:
        values = state.joints() if plan.joints else (np.zeros(0),)
        if values is None:
            return None
        poses = links.update(values[0], state.positions() if links.needs_qpos else None)
        return None if poses is None else template.update(stamp_ns, poses)

    topic = f'{plan.tf_namespace}/tf' if plan.tf_namespace else '/tf'
    prefixes = {f'{plan.prefix}/joint/'.encode()} if plan.joints else set()
    if links.needs_qpos:
        prefixes.add(STATE_FULL)
    return [
        Feed(
            topic,
            publishers.get(template.message_type, topic, qos.transform),
            build,
            wire=state.topics[: len(plan.joints)],
            subscriptions=prefixes,
            rate_name='link_tf_rate',
        )
    ]
