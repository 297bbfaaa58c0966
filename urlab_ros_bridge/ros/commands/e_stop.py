# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The e-stop: while it is engaged, robots stand still and commands are rejected.

A server with an e-stop of its own (extension ``e_stop``) is engaged too, so that it rejects the
commands of all its clients, and the bridge follows it when another client engages or releases it.
With other servers, only commands through the bridge are stopped.
"""

from __future__ import annotations

import math
import threading
import time

from std_msgs.msg import Bool

from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.client.replies.ops import ServerStatus
from urlab_ros_bridge.ros.commands.commands import Commands
from urlab_ros_bridge.ros.commands.setpoints import E_STOP
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.link.connection import ServerLink
from urlab_ros_bridge.ros.plan.plan import WorldPlan

ACTIVE = Topic('e_stop/active', ('std_msgs/msg/Bool',), 'latched', timing='on change')
REASON = 'the e-stop is engaged'


class EStop(Part):
    """The state of the e-stop, also for late subscribers of ``e_stop/active``."""

    def __init__(self, bridge: Bridge) -> None:
        self._commands = bridge.part(Commands)
        self._link = bridge.part(ServerLink)
        self._log = bridge.log
        self._once = bridge.once
        self._lock = threading.RLock()
        self._wanted: bool | None = None  # the state that the server does not have yet
        self._sent_at = -math.inf  # s by time.monotonic
        self._followed = False  # the last state of this server

    def start(self) -> None:
        """Publish the state for the first time, and follow the server."""
        self._link.on_status.append(self._follow)
        self._publish()

    def take_world(self, plan: WorldPlan, handshake: Handshake | None) -> None:
        """Forget the state of the server: it may be another one, or have been restarted."""
        with self._lock:
            self._followed = False

    @property
    def engaged(self) -> bool:
        """Return whether it is engaged."""
        return bool(self._commands.stopped)

    def set(self, engaged: bool) -> str:
        """
        Engage or release it; may be called from any thread, and again.

        Engaging: the base is commanded to rest, goals are aborted, joints that move are held where
        they are, speeds and forces become zero.  Releasing starts nothing again.

        :return: what happened, in words.
        """
        with self._lock:
            if self._link.has(E_STOP):
                self._send(engaged)
            return self._apply(engaged)

    def _send(self, engaged: bool) -> None:
        """Engage or release the server too, after the commands that wait to be sent."""
        self._wanted = engaged

        def send() -> None:
            try:
                self._link.command_client.e_stop(engaged)
                self._followed = engaged
            finally:
                with self._lock:
                    self._sent_at = time.monotonic()
                    if self._wanted == engaged:
                        self._wanted = None

        self._commands.sender.put('e_stop', send)

    def _follow(self, status: ServerStatus, requested: float) -> None:
        """Take the state of the server, unless its status is older than the last request."""
        if not self._link.has(E_STOP):
            return
        with self._lock:
            if self._wanted is not None or requested <= self._sent_at:
                return
            before, self._followed = self._followed, status.e_stop
            if status.e_stop == self.engaged:
                return
            if status.e_stop or before:
                self._apply(status.e_stop)
            else:  # a server that has started since
                self._send(True)

    def _apply(self, engaged: bool) -> str:
        was = self.engaged
        if engaged:
            self._commands.halt(REASON)
        else:
            self._commands.resume()
        self._publish()
        text = 'engaged; all commands are refused' if engaged else 'released'
        if was != engaged:
            self._log('warning' if engaged else 'info', f'e-stop {text}')
        return text

    def _publish(self) -> None:
        self._once(ACTIVE, Bool(data=self.engaged))


FEATURE = Feature('e-stop', topics=(ACTIVE,), attach=EStop)
