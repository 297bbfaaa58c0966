# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Stamps of messages as nanoseconds, and back."""

from builtin_interfaces.msg import Time


def ns_of(message):
    """Return a time in nanoseconds, or that of a message: its stamp, its clock, its transforms."""
    if hasattr(message, 'transforms'):
        message = message.transforms[0]
    stamp = message.header.stamp if hasattr(message, 'header') else message
    stamp = getattr(stamp, 'clock', stamp)
    return stamp.sec * 10**9 + stamp.nanosec


def time_of(stamp_ns):
    sec, nanosec = divmod(stamp_ns, 10**9)
    return Time(sec=sec, nanosec=nanosec)
