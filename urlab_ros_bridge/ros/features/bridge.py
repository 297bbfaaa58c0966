# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The bridge: the one object that features share, and the moments at which they are called."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from typing import TYPE_CHECKING

from urlab_ros_bridge.wire.errors import UnknownName
from urlab_ros_bridge.wire.errors import UrlabError

if TYPE_CHECKING:  # the rooms of these are above: each part is set by the feature that makes it
    from rclpy.node import Node

    from urlab_ros_bridge.client.client import Client
    from urlab_ros_bridge.ros.bag import Recorder
    from urlab_ros_bridge.ros.bag import Taps
    from urlab_ros_bridge.ros.commands.commands import Commands
    from urlab_ros_bridge.ros.commands.e_stop import EStop
    from urlab_ros_bridge.ros.features.feature import Feature
    from urlab_ros_bridge.ros.features.timeline import Mark
    from urlab_ros_bridge.ros.link.connection import Link
    from urlab_ros_bridge.ros.link.stream import StreamThread
    from urlab_ros_bridge.ros.lockstep import Lockstep
    from urlab_ros_bridge.ros.parameters.settings import Settings
    from urlab_ros_bridge.ros.plan.plan import RobotPlan
    from urlab_ros_bridge.ros.plan.plan import WorldPlan
    from urlab_ros_bridge.ros.reports.other_publishers import OtherPublishers
    from urlab_ros_bridge.ros.topics.cameras import Cameras

# An answer waits so long (s) for the stream to publish the time it speaks of.
_CATCH_UP_SECONDS = 1.0


class Unfit(UrlabError):
    """A request that the bridge itself turns down, with its code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Status:
    """
    How one part of the bridge is, for /diagnostics.

    :ivar level: ok, warning or error.
    """

    name: str
    text: str
    values: Mapping[str, Any]
    level: str = 'ok'


@dataclass(frozen=True)
class Attached:
    """
    What a feature does at which moment; all of it is optional.

    `start`, `tick`, `plan`, `published`, `beat` and `status` are called in the order of the list
    of features, `jump`, `stop` and `destroy` in the opposite one.

    :ivar start: the bridge starts; ticks and connections come after all features have started.
    :ivar plan: takes the plan of another world, before that world is published.
    :ivar published: takes the plan after every connection, also of the world that was there.
    :ivar tick: takes the stamp (ns) of a tick that was published; in the stream thread, so quick.
    :ivar jump: takes the stamp of a new epoch and whether time went back, before anything of it
        is published; in the stream thread.
    :ivar beat: takes the monotonic time (s), once a second; in the stream thread.
    :ivar changed: takes changed settings.
    :ivar status: returns what /diagnostics says of it.
    :ivar stop: the bridge ends: robots come to rest, threads end.
    :ivar destroy: withdraws nodes of its own; after `stop`, or in place of `start`.
    """

    start: Callable[[], None] | None = None
    plan: Callable[[WorldPlan], None] | None = None
    published: Callable[[WorldPlan], None] | None = None
    tick: Callable[[int], None] | None = None
    jump: Callable[[int, bool], None] | None = None
    beat: Callable[[float], None] | None = None
    changed: Callable[[Settings], None] | None = None
    status: Callable[[], Iterable[Status]] | None = None
    stop: Callable[[], object] | None = None
    destroy: Callable[[], None] | None = None


class Bridge:
    """
    What features work with, and how they are called.

    :ivar node: the node of topics and parameters.
    :ivar features: all features, in order.
    :ivar settings: returns the values of all parameters now; from any thread.
    :ivar log: takes a severity (info, warning) and a text.
    :ivar status_fd: file descriptor that gets a JSON line a second, None for none.
    :ivar plan: what is published at present.
    """

    recorder: Recorder
    stream: StreamThread
    link: Link
    cameras: Cameras
    commands: Commands
    e_stop: EStop
    lockstep: Lockstep
    others: OtherPublishers
    simulation: Any

    def __init__(
        self,
        node: Node,
        features: tuple[Feature, ...],
        settings: Callable[[], Settings],
        log: Callable[[str, str], None],
        *,
        taps: Taps,
        plan: WorldPlan,
        on_plan: Callable[[WorldPlan, bool], None],
        status_fd: int | None = None,
    ) -> None:
        self.node = node
        self.features = features
        self.settings = settings
        self.log = log
        self.taps = taps
        self.plan = plan
        self.on_plan = on_plan
        self.status_fd = status_fd
        self._attached: list[Attached] = []
        self._ticks: tuple[Callable[[int], None], ...] = ()

    def attach(self) -> None:
        """Attach all features; when one of them fails, `destroy` withdraws the others."""
        for feature in self.features:
            if feature.attach is not None:
                self._attached.append(feature.attach(self) or Attached())
        self._ticks = tuple(each.tick for each in self._attached if each.tick is not None)

    def start(self) -> None:
        """Start all features, then stream and link, with which everything begins."""
        for each in self._attached:
            if each.start is not None:
                each.start()
        self.stream.start()
        self.link.start()

    def stop(self) -> None:
        """Stop the robots that were driven from here, then all threads."""
        for each in reversed(self._attached):
            if each.stop is not None:
                each.stop()

    def destroy(self) -> None:
        """Withdraw what features have beside the node; again it does nothing."""
        while self._attached:
            each = self._attached.pop()
            if each.destroy is not None:
                each.destroy()

    def take_plan(self, plan: WorldPlan) -> None:
        """Tell of another world, before it is published."""
        self.plan = plan
        for each in self._attached:
            if each.plan is not None:
                each.plan(plan)

    def published(self, plan: WorldPlan) -> None:
        """Tell that a world is published."""
        for each in self._attached:
            if each.published is not None:
                each.published(plan)

    def tick(self, stamp_ns: int) -> None:
        """Tell of a tick that was published."""
        for tick in self._ticks:
            tick(stamp_ns)

    def jump(self, stamp_ns: int, went_back: bool) -> None:
        """Tell of a new epoch."""
        for each in reversed(self._attached):
            if each.jump is not None:
                each.jump(stamp_ns, went_back)

    def beat(self, now: float) -> None:
        """Tell that about a second has passed."""
        for each in self._attached:
            if each.beat is not None:
                each.beat(now)

    def changed(self, settings: Settings) -> None:
        """Tell of changed settings."""
        for each in self._attached:
            if each.changed is not None:
                each.changed(settings)

    def statuses(self) -> list[Status]:
        """Return how all features are."""
        found = (each.status() for each in self._attached if each.status is not None)
        return [status for some in found for status in some]

    @property
    def client(self) -> Client:
        """
        Return the client for services.

        :raises Unfit: when there is no connection, with what to do about it.
        """
        return self.link.connected_client()

    @property
    def mode(self) -> str:
        """
        Return the mode of the server, which is asked where it tells.

        :raises Unfit: when there is no connection.
        """
        client = self.client
        return client.status().mode if self.link.has('status') else self.link.state.mode

    def robot(self, name: str) -> RobotPlan:
        """
        Return a robot by prefix, actor id, or the only one for an empty name.

        :raises Unfit: unknown_articulation.
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
            raise Unfit('unknown_articulation', str(error) if name else text) from None

    def catch_up(self, stamp_ns: int, mark: Mark) -> None:
        """Wait until the stream has published the time of a reply."""
        self.stream.timeline.wait_for(stamp_ns, mark, _CATCH_UP_SECONDS)


__all__ = ['Attached', 'Bridge', 'Status', 'Unfit']
