# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The node: parameters, and the threads that do the work.

- executor (the caller's thread): subscriptions, parameters, the e-stop, checks of the ROS graph;
- stream: receives ticks and publishes everything;
- link: connects, watches the server, plans what to publish;
- commands: sends commands to the server;
- services: one for those that may change the world, one for urgent ones, one for the others
  (`services.threads`);
- contacts: requests them while they have subscribers;
- those of cameras, one each, of lockstep, of bags and of simulate_steps, while they are used.

The executor and the stream never wait for the server.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from typing import Any

from rclpy.context import Context as RosContext
from rclpy.node import Node
from rclpy.parameter import Parameter

from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.taps import Taps
from urlab_ros_bridge.ros.features.timeline import Timeline
from urlab_ros_bridge.ros.parameters.params import Parameters
from urlab_ros_bridge.ros.parameters.params import undeclared_overrides
from urlab_ros_bridge.ros.parameters.settings import Settings
from urlab_ros_bridge.ros.parameters.settings import settings_type
from urlab_ros_bridge.ros.program.features import installed_features
from urlab_ros_bridge.ros.reports.reporter import log_to
from urlab_ros_bridge.wire.errors import UrlabError

NODE_NAME = 'urlab_bridge'


class BridgeNode(Node):
    """
    The bridge.

    :ivar taps: of all publishers and of the subscriptions of commands.
    """

    def __init__(
        self,
        *,
        status_fd: int | None = None,
        context: RosContext | None = None,
        parameter_overrides: list[Parameter] | None = None,
        features: Sequence[Feature] | None = None,
        on_failure: Callable[[UrlabError], None] | None = None,
        **arguments: Any,
    ) -> None:
        """
        Declare everything; nothing runs before `start`.

        :param status_fd: file descriptor that gets a JSON line with figures once a second.
        :param features: what it does; None: everything that is installed.
        :param on_failure: takes the reason why the bridge must be stopped while it runs, from any
            thread; None: it is logged.
        :raises BadFeature: when a feature of another package cannot be used.
        :raises BadParameter: when a parameter has a value that is not accepted.
        :raises InterfaceMissing: without tf2_msgs or urlab_msgs.
        """
        features = installed_features() if features is None else tuple(features)
        super().__init__(
            NODE_NAME, context=context, parameter_overrides=parameter_overrides, **arguments
        )
        self.taps = Taps()
        self._log = log_to(self)
        self.bridge = Bridge(
            self,
            features,
            lambda: self.parameters.settings,
            self._log,
            timeline=Timeline(),
            fail=on_failure or (lambda error: self._log('warning', str(error))),
            status_fd=status_fd,
        )
        try:
            self._refuse_sim_time()
            self.parameters = Parameters(self, settings_type(features), self._changed)
            for text in undeclared_overrides(self, type(self.parameters.settings)):
                self._log('warning', text)
            self.bridge.attach()
        except BaseException:
            # A node that is not destroyed would stay in the graph.
            self.destroy_node()
            raise

    def start(self) -> None:
        """
        Start everything.

        :raises SecondBridge: when a bridge of the same name is at work; nothing is started then.
        """
        self.bridge.start()

    def stop(self) -> None:
        """Stop the robots that were driven from here, then all threads."""
        self.bridge.stop()

    def destroy_node(self) -> None:
        """Withdraw everything; after `stop`, or in place of `start`."""
        self.bridge.destroy()
        super().destroy_node()

    def _changed(self, settings: Settings) -> None:
        self.bridge.changed(settings)

    def _refuse_sim_time(self) -> None:
        """Reset use_sim_time: the publisher of /clock cannot take its time from it."""
        if self.get_parameter('use_sim_time').value:
            self.set_parameters([Parameter('use_sim_time', Parameter.Type.BOOL, False)])
            self._log('warning', 'use_sim_time is ignored: this node publishes /clock')
