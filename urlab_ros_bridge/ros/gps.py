# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""gps/fix: where on earth the base of a robot is, for a world that has a place there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from urlab_ros_bridge.ros.convert.geodesy import Place
from urlab_ros_bridge.ros.convert.nav_sat_fix import NavSatFixTemplate
from urlab_ros_bridge.ros.feed import Feed
from urlab_ros_bridge.ros.feed import Publishers
from urlab_ros_bridge.ros.plan import RobotPlan
from urlab_ros_bridge.ros.settings import Settings
from urlab_ros_bridge.ros.state import RobotState

TOPIC = 'gps/fix'


def gps_feeds(
    plan: RobotPlan,
    state: RobotState,
    publishers: Publishers,
    settings: Settings,
    stddevs: Sequence[float] | None,
) -> list[Feed]:
    """
    Make the topic of a floating base, if the world has a place on earth.

    :param stddevs: of the base's position, and more; None when unknown.
    """
    if len(settings.gps_origin) != len(fields(Place)):
        return []
    template = NavSatFixTemplate(plan.frames.base, Place(*settings.gps_origin), stddevs)

    def build(stamp_ns: int) -> Any:
        base = state.base()
        return None if base is None else template.update(stamp_ns, base[:3])

    topic = f'{plan.namespace}/{TOPIC}' if plan.namespace else TOPIC
    return [
        Feed(
            topic,
            publishers.get(template.message_type, topic),
            build,
            wire=(state.topics[len(plan.joints) + 1],),
            rate_name='gps_rate',
        )
    ]
