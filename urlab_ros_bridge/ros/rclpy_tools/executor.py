# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Executors."""

from __future__ import annotations

import traceback

from rclpy.context import Context
from rclpy.executors import Executor
from rclpy.executors import ExternalShutdownException
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node


def make_executor(context: Context | None = None) -> Executor:
    """
    Return the executor for a node: the events executor where rclpy has it.

    It takes a third of the CPU of the single-threaded one (docs/architecture_bridge.md).  Drive it
    with `spin_once`: its `spin` runs no callbacks in some releases.
    """
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor(context=context)
    return EventsExecutor(context=context)


def spin_once(executor: Executor, node: Node, timeout: float) -> None:
    """
    Run ready callbacks, or wait for one (s); an error in a callback is only logged.

    :raises ExternalShutdownException: when ROS was shut down.
    """
    try:
        executor.spin_once(timeout_sec=timeout)
    except ExternalShutdownException:
        raise
    except Exception:
        node.get_logger().error(traceback.format_exc())
