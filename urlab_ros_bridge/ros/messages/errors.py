# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of values that no message can hold."""

from __future__ import annotations

from urlab_ros_bridge.wire.errors import UrlabError


class ConvertError(UrlabError, ValueError):
    """A value does not fit its message."""


class WrongLength(ConvertError):
    """A reading has the wrong number of values for its message."""

    def __init__(self, expected: int, found: int) -> None:
        super().__init__(f'expected {expected} values, got {found}')


class BadStamp(ConvertError):
    """A time does not fit builtin_interfaces/Time, whose seconds are an int32."""

    def __init__(self, stamp_ns: int) -> None:
        super().__init__(f'time of {stamp_ns} ns does not fit a ROS stamp, which ends at 2^31 s')


class BadScan(ConvertError):
    """The geometry of a scanner makes no LaserScan."""

    def __init__(self, reason: str) -> None:
        super().__init__(f'a LaserScan cannot represent this: {reason}')
