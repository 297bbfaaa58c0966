# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A feature of the bridge, and the bridge: what features share, and when it calls them.

A feature is one file, which ends with a `Feature`; the list of all is `program.features`.  The
node, config/bridge.yaml, the pages in docs/ and the tests are made from that list.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import contextlib
from dataclasses import dataclass
from typing import Any
from typing import TypeVar
import warnings

import numpy as np
from rclpy.node import Node

from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.ros.features import old_hooks
from urlab_ros_bridge.ros.features.declarations import FrameRule
from urlab_ros_bridge.ros.features.declarations import RosAction
from urlab_ros_bridge.ros.features.declarations import Service
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.errors import FeatureErrors
from urlab_ros_bridge.ros.features.errors import owner_of
from urlab_ros_bridge.ros.features.errors import text_of
from urlab_ros_bridge.ros.features.feed import RobotTopics
from urlab_ros_bridge.ros.features.feed import WorldTopics
from urlab_ros_bridge.ros.features.once import OnceTopics
from urlab_ros_bridge.ros.features.stepping import Stepping
from urlab_ros_bridge.ros.features.stream_tasks import StreamTasks
from urlab_ros_bridge.ros.features.timeline import Timeline
from urlab_ros_bridge.ros.parameters.settings import Settings
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.ros.plan.plan import WorldPlan
from urlab_ros_bridge.wire.errors import UrlabError


class Command:
    """
    One way to command one robot: a base class whose methods do nothing.

    Messages and goals arrive in the executor's thread, ticks in the stream's.
    """

    @property
    def active(self) -> bool:
        """Whether `tick` needs joint states."""
        return False

    def tick(self, stamp_ns: int, joints: Sequence[np.ndarray] | None) -> None:
        """
        Continue the active commands.

        :param joints: positions, velocities and efforts of all joints, None without them.
        """

    def drop(self, reason: str) -> None:
        """Abort goals and send nothing more for them: setpoints cannot be sent."""

    def halt(self, reason: str) -> None:
        """Stop the robot: the e-stop is engaged."""
        self.drop(reason)

    def jump(self, reason: str) -> None:
        """Stop the robot and forget active commands: they belong to another time."""
        self.drop(reason)

    def close(self) -> None:
        """Withdraw actions and publishers after the robot was removed."""


PartT = TypeVar('PartT')
GroupT = TypeVar('GroupT')


class PartMissing(UrlabError):
    """A feature needs a part of another one that is not in the list of features, or after it."""

    def __init__(self, kind: type) -> None:
        super().__init__(
            f'no feature has added a {kind.__name__} yet; list the feature that adds it before '
            'those that use it'
        )


class FeatureFailed(UrlabError):
    """A feature raised an unexpected error when it was attached or started."""

    def __init__(self, feature: str, error: Exception) -> None:
        super().__init__(
            f'feature {feature!r} cannot start: {text_of(error)}; the log has the traceback. '
            'Correct it, or uninstall the package that adds it'
        )


@dataclass(frozen=True)
class Status:
    """
    One entry of /diagnostics.

    :ivar level: ok, warning or error.
    """

    name: str
    text: str
    values: Mapping[str, Any]
    level: str = 'ok'


class Part:
    """
    Lifecycle callbacks of a feature: a base class whose methods do nothing.

    Methods are called in the order of the list of features, except `jump`, `stop` and `destroy`,
    which are called in reverse order.
    """

    def start(self) -> None:
        """Start; ticks and connections come later."""

    def take_world(self, plan: WorldPlan, handshake: Handshake | None) -> None:
        """
        Take the world that is published from now on; called in the link thread.

        It is called after each connection, so the world may be the same as before.

        :param handshake: None without a session.
        """

    def tick(self, stamp_ns: int) -> None:
        """Handle a tick that was published; called in the stream thread, so it must be fast."""

    def jump(self, stamp_ns: int, went_back: bool) -> None:
        """
        Handle a new epoch, before anything of it is published; called in the stream thread.

        :param went_back: whether time went back.
        """

    def every_second(self, now: float) -> None:
        """Handle the periodic update, about once a second; called in the stream thread."""

    def statuses(self) -> Iterable[Status]:
        """Return the entries in /diagnostics."""
        return ()

    def stop(self) -> None:
        """Stop robots and end threads: the bridge ends."""

    def destroy(self) -> None:
        """Withdraw what does not belong to the node; called after `stop`, or without `start`."""


@dataclass(frozen=True)
class Feature:
    """
    One thing that the bridge does.

    :ivar name: for the reader.
    :ivar parameters: a frozen dataclass whose fields are made by `schema.key`, each with a
        default; the fields become attributes of `Settings`.  In `Key.extra`: ``live`` for one that
        may be changed while the node runs, ``name`` for a ROS name other than that of the field,
        ``group`` for another group than that of the feature.
    :ivar group: heading under which documentation lists the parameters.
    :ivar check: returns the problems of a combination of values, each of which is valid.
    :ivar attach: makes its part: threads, publishers and the like.
    :ivar feeds: makes the topics of one robot that are published from ticks.
    :ivar world_feeds: makes those that belong to no robot.
    :ivar commands: makes the commands of one robot (a `ros.commands.robot.CommandedRobot`).
    :ivar latched: old; call `once` in `feeds` or `world_feeds`.
    """

    name: str
    parameters: type | None = None
    group: str = ''
    check: Callable[[Settings], Iterable[str]] | None = None
    topics: tuple[Topic, ...] = ()
    actions: tuple[RosAction, ...] = ()
    frames: tuple[FrameRule, ...] = ()
    services: tuple[Service, ...] = ()
    attach: Callable[[Bridge], Part] | None = None
    feeds: Callable[[RobotTopics], object] | None = None
    world_feeds: Callable[[WorldTopics], object] | None = None
    commands: Callable[[Any], Iterable[Command]] | None = None
    latched: Callable[[WorldPlan, Settings], dict[str, Any]] | None = None


class Bridge:
    """
    What features share, and what calls their parts.

    Features find the parts of each other by class; the bridge knows none of these classes.

    :ivar node: the node of topics and parameters.
    :ivar features: all features, in order.
    :ivar all_settings: returns the present values of all parameters; from any thread.
    :ivar log: takes a severity (info, warning) and a text.
    :ivar timeline: simulation time and its epochs.
    :ivar fail: stops a running bridge with a reason; from any thread.
    :ivar status_fd: file descriptor that gets a JSON line a second, None for none.
    :ivar stepping: who advances simulation time through this bridge.
    :ivar stream_tasks: what the stream thread is to do between two ticks.
    :ivar on_started: all are called when all parts have started: ticks and connections begin.
    :ivar on_settings: all are called with changed settings, in any thread.
    :ivar wire_needs: return the prefixes of the wire that are needed now in addition to those of
        topics; called in the stream thread.
    :ivar errors: what features have raised.
    :ivar once_topics: behind `once`.
    """

    def __init__(
        self,
        node: Node,
        features: tuple[Feature, ...],
        all_settings: Callable[[], Settings],
        log: Callable[[str, str], None],
        *,
        timeline: Timeline,
        fail: Callable[[UrlabError], None],
        status_fd: int | None = None,
    ) -> None:
        self.node = node
        self.features = features
        self.all_settings = all_settings
        self.log = log
        self.timeline = timeline
        self.fail = fail
        self.status_fd = status_fd
        self.errors = FeatureErrors(log)
        self.stepping = Stepping()
        self.stream_tasks = StreamTasks(lambda task, error: self.errors.add(owner_of(task), error))
        self.on_started: list[Callable[[], object]] = []
        self.on_settings: list[Callable[[Settings], object]] = []
        self.wire_needs: list[Callable[[], set[bytes]]] = []
        self.once_topics = OnceTopics(node, self.stream_tasks)
        self._offered: dict[type, Any] = {}
        self._parts: list[tuple[str, Part]] = []  # each with the name of its feature
        self._ticking: list[tuple[str, Part]] = []  # those that handle ticks: few of many

    def settings(self, kind: type[GroupT]) -> GroupT:
        """Return the present values of one feature's parameters; from any thread."""
        return self.all_settings()(kind)

    def add(self, part: PartT) -> PartT:
        """Offer an object to features that come later; return it."""
        self._offered[type(part)] = part
        return part

    def part(self, kind: type[PartT]) -> PartT:
        """
        Return the object of a class that a feature has offered or attached.

        :raises PartMissing: when there is none.
        """
        try:
            found: PartT = self._offered[kind]
        except KeyError:
            raise PartMissing(kind) from None
        return found

    @property
    def plan(self) -> WorldPlan:
        """The published world, for features of earlier releases."""
        warnings.warn(
            'Bridge.plan: use bridge.part(CurrentWorld).plan', DeprecationWarning, stacklevel=2
        )
        plans = (getattr(part, 'plan', None) for part in self._offered.values())
        return next((plan for plan in plans if isinstance(plan, WorldPlan)), WorldPlan())

    def once(self, topic: Topic, message: Any, robot: RobotPlan | None = None) -> None:
        """
        Publish a message between two ticks; late subscribers get the last one of the topic.

        :param robot: whose topic it is; it goes with the robot.
        """
        self.once_topics.publish(topic, message, robot)

    def run_in_stream(self, task: Callable[[], None]) -> None:
        """
        Run a task in the stream thread, between two ticks, and return at once.

        Only that thread publishes.  `stream_tasks.run_and_wait` also waits for the task.
        """
        self.stream_tasks.put(task)

    def attach(self) -> None:
        """
        Attach all features; when one of them fails, `destroy` withdraws the others.

        :raises FeatureFailed: for an unexpected error.
        """
        for feature in self.features:
            if feature.attach is not None:
                with self._starting(feature.name):
                    part = feature.attach(self)
                    if not isinstance(part, Part):
                        raise TypeError(f'attach must return a Part, not {type(part).__name__}')
                self.add(part)
                self._parts.append((feature.name, part))
                if getattr(part.tick, '__func__', None) is not Part.tick:
                    self._ticking.append((feature.name, part))
                old_hooks.adopt(self, feature.name, part)

    def start(self) -> None:
        """
        Start all parts, then those that bring ticks and connections.

        :raises FeatureFailed: for an unexpected error.
        """
        for name, part in self._parts:
            with self._starting(name):
                part.start()
        for call in self.on_started:
            with self._starting(owner_of(call)):
                call()

    def stop(self) -> None:
        """Stop the robots that were driven from here, then all threads."""
        self._call_all(lambda part: part.stop(), reversed(self._parts))

    def destroy(self) -> None:
        """Withdraw what parts have beside the node; again it does nothing."""
        parts, self._parts = self._parts, []
        self._call_all(lambda part: part.destroy(), reversed(parts))

    def take_world(self, plan: WorldPlan, handshake: Handshake | None) -> None:
        """Announce the world that is published from now on."""
        self.once_topics.keep(plan)
        self._call_all(lambda part: part.take_world(plan, handshake), self._parts)

    def extra_subscriptions(self) -> set[bytes]:
        """Return the prefixes of the wire that parts need in addition to those of topics."""
        found: set[bytes] = set()
        for needs in self.wire_needs:
            with self.errors.caught(owner_of(needs)):
                found |= needs()
        return found

    def tick(self, stamp_ns: int) -> None:
        """Announce a tick that was published."""
        self._call_all(lambda part: part.tick(stamp_ns), self._ticking)

    def jump(self, stamp_ns: int, went_back: bool) -> None:
        """Announce a new epoch."""
        self._call_all(lambda part: part.jump(stamp_ns, went_back), reversed(self._parts))

    def every_second(self, now: float) -> None:
        """Announce that about a second has passed."""
        self._call_all(lambda part: part.every_second(now), self._parts)

    def changed(self, settings: Settings) -> None:
        """Announce changed settings."""
        for take in self.on_settings:
            with self.errors.caught(owner_of(take)):
                take(settings)

    def statuses(self) -> list[Status]:
        """Return the entries of all parts in /diagnostics, and that of the errors of features."""
        found: list[Status] = []
        self._call_all(lambda part: found.extend(part.statuses()), self._parts)
        counts, last = self.errors.counts.copy(), self.errors.last.copy()
        values: dict[str, Any] = {f'{name} errors': count for name, count in counts.items()}
        values |= {f'{name} last error': text for name, text in last.items()}
        text = '; '.join(f'{name}: {error}' for name, error in last.items())
        return [*found, Status('features', text or 'no errors', values, 'error' if text else 'ok')]

    def _call_all(self, call: Callable[[Part], object], parts: Iterable[tuple[str, Part]]) -> None:
        """Call something of parts, of all of them, whatever one raises."""
        for name, part in parts:
            try:
                call(part)
            except Exception as error:
                self.errors.add(name, error)

    @contextlib.contextmanager
    def _starting(self, feature: str) -> Iterator[None]:
        """Name the feature in an unexpected error."""
        try:
            yield
        except UrlabError:
            raise
        except Exception as error:
            self.errors.add(feature, error)
            raise FeatureFailed(feature, error) from error
