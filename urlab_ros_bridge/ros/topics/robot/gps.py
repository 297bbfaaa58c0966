# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""gps/fix: where on earth the base of a robot is, for a world that has a place there."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import fields
from typing import Any

from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feed import RobotTopics
from urlab_ros_bridge.ros.messages.geodesy import GeodeticOrigin
from urlab_ros_bridge.ros.messages.nav_sat_fix import NavSatFixTemplate
from urlab_ros_bridge.ros.parameters.checks import LARGEST_STDDEV
from urlab_ros_bridge.ros.parameters.checks import numbers_or_unknown
from urlab_ros_bridge.ros.parameters.checks import rate_key
from urlab_ros_bridge.schema import key


def _place_on_earth(value: tuple[float, ...]) -> str:
    text = numbers_or_unknown(3)(value)
    if not text and len(value) == 3 and abs(value[0]) > 90.0:
        text = f'begins with {value[0]}, must begin with a latitude from -90 to 90'
    return text


@dataclass(frozen=True)
class GpsParameters:
    """Position of the world on earth, and rate of gps/fix."""

    gps_origin: tuple[float, ...] = key(
        (-1.0,),
        "Position of the world's origin on earth: latitude, longitude (deg, WGS 84), altitude "
        '(m); x is east, y is north. A single negative number: none, and no gps/fix.',
        high=1e7,
        check=_place_on_earth,
    )
    gps_rate: float = rate_key(10.0, 'gps/fix')
    gps_stddev: tuple[float, ...] = key(
        (-1.0,),
        'Standard deviations of gps/fix: east, north, up (m). A single negative number: unknown.',
        high=LARGEST_STDDEV,
        name='covariance.gps_stddev',
        check=numbers_or_unknown(3),
        group='Covariances',
    )


def feeds(robot: RobotTopics) -> None:
    """Make the topic of a floating base, if the world has a place on earth."""
    options = robot.settings(GpsParameters)
    origin, stddevs = options.gps_origin, options.gps_stddev
    if not robot.plan.base_joint or len(origin) != len(fields(GeodeticOrigin)):
        return
    known = None if stddevs[0] < 0 else stddevs
    template = NavSatFixTemplate(robot.plan.frames.base, GeodeticOrigin(*origin), known)
    state = robot.state

    def build(stamp_ns: int) -> Any:
        base = state.base()
        return None if base is None else template.update(stamp_ns, base[:3])

    robot.feed(FIX, build, wire=robot.base_row)


FIX = Topic(
    '{robot}/gps/fix',
    ('sensor_msgs/msg/NavSatFix',),
    'sensor',
    when='floating base, with gps_origin',
    rate='gps_rate',
)
FEATURE = Feature('GPS', GpsParameters, group='What is published', topics=(FIX,), feeds=feeds)
