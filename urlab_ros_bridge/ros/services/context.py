# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The context of service handlers: the parts of the bridge, and the server behind it."""

from __future__ import annotations

from collections.abc import Callable
import traceback

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.ros.commands.commands import Commands
from urlab_ros_bridge.ros.commands.e_stop import EStop
from urlab_ros_bridge.ros.features.declarations import RequestRejected
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.timeline import Mark
from urlab_ros_bridge.ros.link.connection import NOT_CONNECTED
from urlab_ros_bridge.ros.link.connection import ServerLink
from urlab_ros_bridge.ros.link.current_world import CurrentWorld
from urlab_ros_bridge.ros.link.stream import StreamThread
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.ros.plan.plan import WorldPlan
from urlab_ros_bridge.ros.services.threads import ServiceThreads
from urlab_ros_bridge.ros.topics.reset_counts import ResetCounts
from urlab_ros_bridge.wire.errors import UnknownName

# A response waits this long for the stream to publish its time (s).
_CATCH_UP_SECONDS = 1.0


class ServiceContext:
    """
    The bridge as handlers see it.

    :ivar settings: returns the values of all parameters now.
    :ivar timeline: published simulation time.
    :ivar stepping: who advances it.
    :ivar part: returns the part of a feature by its class, for services of that feature.
    :ivar link: the connection to the server; `stream`: the ticks from there; `world`: what is
        published of it.
    :ivar world_turn: see `ServiceThreads`.
    :ivar recording_name: of the recording that was started here last, empty before it.
    """

    def __init__(self, bridge: Bridge) -> None:
        self.settings = bridge.settings
        self.timeline = bridge.timeline
        self.stepping = bridge.stepping
        self.part = bridge.part
        self.link = bridge.part(ServerLink)
        self.stream = bridge.part(StreamThread)
        self.world = bridge.part(CurrentWorld)
        self.commands = bridge.part(Commands)
        self.reset_counts = bridge.part(ResetCounts)
        self.e_stop = bridge.part(EStop)
        self.recording_name = ''
        self._bridge = bridge
        self._threads = bridge.part(ServiceThreads)
        self.world_turn = self._threads.world_turn

    @property
    def plan(self) -> WorldPlan:
        """Return the published world."""
        return self.world.plan

    def has(self, need: str) -> bool:
        """Return whether the server has an extension of the protocol; empty: yes."""
        return not need or self.link.has(need)

    @property
    def client(self) -> Client:
        """
        Return the client for services.

        :raises RequestRejected: when there is no connection, with what to do about it.
        """
        return self.link.connected_client()

    def require_connection(self) -> None:
        """Raise RequestRejected without a connection, with what to do about it."""
        self.link.connected_client()

    @property
    def urgent_client(self) -> Client:
        """
        Return a client whose requests do not wait for those of other services.

        On a server without shared sessions that is the client of all services.

        :raises RequestRejected: as for `client`.
        """
        self.link.connected_client()
        return self.link.command_client

    @property
    def stopping(self) -> bool:
        """Return whether the bridge is ending: long requests end too."""
        return self._threads.stopping.is_set()

    def wait_for_discovery(self) -> None:
        """
        Wait for the world to be read, if it is being read.

        :raises RequestRejected: when that takes too long, or the bridge ends.
        """
        self.link.wait_while_reading(lambda: self.stopping)
        if self.stopping:
            raise RequestRejected(NOT_CONNECTED, 'the bridge is shutting down')
        if self.link.is_reading:
            raise self.link.rejection()

    @property
    def mode(self) -> str:
        """
        Return the mode of the server, from its status where it has one.

        :raises RequestRejected: when there is no connection.
        """
        client = self.urgent_client
        return client.status().mode if self.link.has('status') else self.link.state.mode

    def robot(self, name: str) -> RobotPlan:
        """
        Return a robot by prefix, actor id, or the only one for an empty name.

        :raises RequestRejected: unknown_articulation.
        """
        handshake = self.link.handshake
        for prefix, robot in (handshake.articulations if handshake else {}).items():
            if name and robot.actor_id == name:
                name = prefix
                break
        try:
            return self.plan.robot(name)
        except UnknownName as error:
            names = ', '.join(robot.prefix for robot in self.plan.robots)
            text = f'articulation is empty; it must be one of: {names}'
            raise RequestRejected('unknown_articulation', str(error) if name else text) from None

    def log(self, severity: str, text: str) -> None:
        """Log a text as info, warning or error."""
        self._bridge.log(severity, text)

    def log_exception(self, service: str, error: Exception) -> None:
        """Log an error that no handler should raise, with its traceback."""
        lines = ''.join(traceback.format_exception(error))
        self._bridge.log('error', f'service {service}: {lines.rstrip()}')

    def run_in_stream_and_wait(self, task: Callable[[], None]) -> None:
        """Run a task in the stream thread, between two ticks, and wait for it."""
        self._bridge.stream_tasks.run_and_wait(task)

    def catch_up(self, stamp_ns: int, mark: Mark) -> None:
        """Wait until the stream has published the time of a reply."""
        self.timeline.wait_for(stamp_ns, mark, _CATCH_UP_SECONDS)
