# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Executors."""

from __future__ import annotations

from rclpy.context import Context
from rclpy.executors import Executor
from rclpy.executors import SingleThreadedExecutor


def make_executor(context: Context | None = None) -> Executor:
    """
    Return the executor for a node: the events executor where rclpy has it.

    It takes a third of the CPU of the single-threaded one.  Drive it with `spin_once`: its `spin`
    fires nothing in some releases.
    """
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor(context=context)
    return EventsExecutor(context=context)


__all__ = ['make_executor']
