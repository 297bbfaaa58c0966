# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The bridge under a managed node, with the states and services of lifecycle_msgs.

The managed node holds the bridge as a node of its own: `configure` makes it, which checks the
parameters; `activate` connects and publishes; `deactivate` stops the robots it drove, closes every
socket and publisher and keeps the parameters as they are then; `cleanup` forgets them.
"""

from __future__ import annotations

from collections.abc import Callable
import contextlib
import threading

from rclpy.context import Context as RosContext
from rclpy.executors import ExternalShutdownException
from rclpy.lifecycle import LifecycleState
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter

from urlab_ros_bridge.ros.program.node import BridgeNode
from urlab_ros_bridge.ros.rclpy_tools.executor import make_executor
from urlab_ros_bridge.ros.rclpy_tools.executor import spin_once
from urlab_ros_bridge.ros.rclpy_tools.managed import ManagedNode
from urlab_ros_bridge.wire.errors import UrlabError

NODE_NAME = 'urlab_bridge_lifecycle'


class ManagedBridge(ManagedNode):
    """A lifecycle node around the bridge."""

    def __init__(
        self,
        *,
        status_fd: int | None = None,
        context: RosContext | None = None,
        parameter_overrides: list[Parameter] | None = None,
        on_failure: Callable[[UrlabError], None] | None = None,
    ) -> None:
        """
        Begin unconfigured.

        :param status_fd, parameter_overrides, on_failure: as for the bridge, which gets them.
        """
        super().__init__(NODE_NAME, context=context)
        self._status_fd = status_fd
        self._first_overrides = parameter_overrides
        self._on_failure = on_failure
        self._bridge: _RunningBridge | None = None

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Make the bridge; wrong parameters fail."""
        return self._make_bridge(self._first_overrides)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Connect and publish; fails while another bridge of the name is at work."""
        bridge = self._bridge
        if bridge is None:
            return TransitionCallbackReturn.FAILURE
        try:
            bridge.start()
        except UrlabError as error:
            self.get_logger().error(str(error))
            return TransitionCallbackReturn.FAILURE
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Close everything; the bridge is made again with the parameters of this moment."""
        bridge = self._bridge
        values = self._first_overrides if bridge is None else bridge.parameters()
        self.stop()
        result = super().on_deactivate(state)
        if result is TransitionCallbackReturn.SUCCESS:
            result = self._make_bridge(values)
        return result

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget the bridge and its parameters."""
        self.stop()
        return TransitionCallbackReturn.SUCCESS

    on_shutdown = on_error = on_cleanup

    def stop(self) -> None:
        """Close everything."""
        bridge, self._bridge = self._bridge, None
        if bridge is not None:
            bridge.close()

    def _make_bridge(self, overrides: list[Parameter] | None) -> TransitionCallbackReturn:
        own = self.get_name()
        # A remapped node name is for the managed node: two nodes must not share it.
        rule = [] if own == NODE_NAME else ['--ros-args', '-r', f'__node:={own}_bridge']
        try:
            node = BridgeNode(
                status_fd=self._status_fd,
                context=self.context,
                parameter_overrides=overrides,
                on_failure=self._on_failure,
                namespace=self.get_namespace(),
                cli_args=rule,
            )
        except UrlabError as error:
            self.get_logger().error(str(error))
            return TransitionCallbackReturn.FAILURE
        self._bridge = _RunningBridge(node)
        return TransitionCallbackReturn.SUCCESS


class _RunningBridge:
    """A bridge with an executor and its thread."""

    def __init__(self, node: BridgeNode) -> None:
        self._node = node
        self._executor = make_executor(node.context)
        self._executor.add_node(node)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._spin, name='bridge', daemon=True)
        self._started = False
        self._thread.start()

    def start(self) -> None:
        self._node.start()
        self._started = True

    def parameters(self) -> list[Parameter]:
        """Return the parameters of the table as they are now."""
        return [self._node.get_parameter(name) for name in self._node.parameters.settings.TABLE]

    def close(self) -> None:
        if self._started:
            self._node.stop()
        self._stop.set()
        self._executor.wake()
        self._thread.join(5.0)
        self._executor.remove_node(self._node)
        self._executor.shutdown()
        self._node.destroy_node()

    def _spin(self) -> None:
        with contextlib.suppress(ExternalShutdownException):
            while not self._stop.is_set() and self._node.context.ok():
                spin_once(self._executor, self._node, 0.2)
