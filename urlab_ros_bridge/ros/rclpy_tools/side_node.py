# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes beside the bridge's own, for what needs another executor: services and actions."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
import contextlib
import threading

from rclpy.executors import ExternalShutdownException
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter

from urlab_ros_bridge.ros.rclpy_tools.executor import spin_once


def make_side_node(bridge: Node, purpose: str) -> Node:
    """
    Return a node named after the bridge, in its namespace; remapped topics hold for it too.

    A remapped node name (``-r __node:=sim``) has gone into the name of the bridge, and would give
    this node the same one: so it has a rule of its own, which comes first.
    """
    name = f'{bridge.get_name()}_{purpose}'
    return Node(
        name,
        context=bridge.context,
        namespace=bridge.get_namespace(),
        cli_args=['--ros-args', '-r', f'__node:={name}'],
        enable_rosout=False,
        # /clock is ours, whatever a parameter file says for all nodes.
        parameter_overrides=[Parameter('use_sim_time', value=False)],
    )


class SideThread:
    """
    A side node with an executor and its own thread.

    Services and action servers need an executor that takes tasks; that of the bridge takes none.
    """

    def __init__(self, bridge: Node, purpose: str) -> None:
        self.node = make_side_node(bridge, purpose)
        self._context = bridge.context
        self._executor = SingleThreadedExecutor(context=bridge.context)
        self._executor.add_node(self.node)
        self._todo: deque[Callable[[], None]] = deque()
        self._regular: list[Callable[[], None]] = []
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name=purpose, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def run(self, task: Callable[[], None]) -> None:
        """Have something done in the thread, which owns what the node offers; in this order."""
        self._todo.append(task)
        # An executor keeps no order of its tasks, so that each does what is oldest.
        self._executor.create_task(lambda: self._todo.popleft()())

    def call_regularly(self, task: Callable[[], None]) -> None:
        """Have something done in the thread at least twice a second; before it is started."""
        self._regular.append(task)

    def stop(self) -> None:
        """End the thread after what is to be done by now; a long request is given up."""
        self.run(self._stopped.set)
        self._thread.join(1.0)
        self._stopped.set()

    @property
    def busy(self) -> bool:
        """Return whether the thread runs: a request that was given up may still use the node."""
        return self._thread.is_alive()

    def destroy(self) -> None:
        """Withdraw the node, unless a request that was given up still uses it."""
        if not self.busy:
            self._executor.remove_node(self.node)
            self._executor.shutdown(timeout_sec=0.0)  # nothing runs any more
            self.node.destroy_node()

    def _run(self) -> None:
        with contextlib.suppress(ExternalShutdownException):
            while not self._stopped.is_set() and self._context.ok():
                spin_once(self._executor, self.node, 0.5)
                for task in self._regular:
                    task()
