# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A node of a test, with simulation time, in an executor with its own thread."""

from __future__ import annotations

import contextlib
import threading

import rclpy
from rclpy.context import Context
from rclpy.exceptions import InvalidHandle
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter


class SpunNode:
    """
    A node that is spun in the background.

    :ivar node: the node; its callbacks run in the thread.
    """

    def __init__(self, domain: int | None, name: str = 'urlab_test') -> None:
        self._context = Context()
        rclpy.init(context=self._context, domain_id=domain)
        self.node = Node(
            name,
            context=self._context,
            parameter_overrides=[Parameter('use_sim_time', value=True)],
        )
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._stop = False
        self._thread = threading.Thread(target=self._run, name='urlab_test', daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End thread and node."""
        self._stop = True
        self._executor.wake()
        self._thread.join(10.0)
        self._executor.remove_node(self.node)
        self.node.destroy_node()
        self._executor.shutdown()
        rclpy.shutdown(context=self._context)

    def _run(self) -> None:
        while not self._stop:
            # A test may destroy what the executor is about to wait for.
            with contextlib.suppress(InvalidHandle):
                self._executor.spin_once(timeout_sec=0.2)


__all__ = ['SpunNode']
