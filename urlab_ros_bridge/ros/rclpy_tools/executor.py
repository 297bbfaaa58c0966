# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Executors, and the main loop of a program that runs one node until a signal stops it."""

from __future__ import annotations

from collections.abc import Callable
import signal
import traceback

import rclpy
from rclpy.context import Context
from rclpy.executors import Executor
from rclpy.executors import ExternalShutdownException
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node


def make_executor(context: Context | None = None) -> Executor:
    """
    Return the executor for a node: the events executor where rclpy has it.

    It takes a third of the CPU of the single-threaded one (docs/architecture.md).  Drive it
    with `spin_once`: its `spin` runs no callbacks in some releases.
    """
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor(context=context)
    return EventsExecutor(context=context)


def spin_once(executor: Executor, node: Node, timeout: float) -> None:
    """
    Run ready callbacks, or wait for one (s); an error in a callback is only logged, one a second.

    :raises ExternalShutdownException: when ROS was shut down.
    """
    try:
        executor.spin_once(timeout_sec=timeout)
    except ExternalShutdownException:
        raise
    except Exception:
        node.get_logger().error(traceback.format_exc(), throttle_duration_sec=1.0)


class StopSignal:
    """Remembers SIGINT and SIGTERM, so that the robot can be stopped before ROS shuts down."""

    def __init__(self) -> None:
        self.received = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._receive)

    def _receive(self, *_: object) -> None:
        self.received = True


def start_problem(error: Exception) -> str:
    """Return why ROS did not start, with advice where the text of rcl has none."""
    advice = '; set ROS_LOG_DIR to a writable folder'
    words = ('log directory', 'logging directory')  # the second one without HOME
    return f'{error}{advice if any(word in str(error) for word in words) else ""}'


def spin_until(stop: StopSignal, executor: Executor, node: Node, end: Callable[[], None]) -> None:
    """Spin until a signal or the end of ROS; then call `end`, and `release` the node."""
    try:
        while rclpy.ok() and not stop.received:
            spin_once(executor, node, 0.2)
    except ExternalShutdownException:
        pass
    finally:
        end()
        release(executor, node)


def release(executor: Executor, node: Node) -> None:
    """Destroy a node and shut ROS down."""
    executor.remove_node(node)
    node.destroy_node()
    rclpy.try_shutdown()
