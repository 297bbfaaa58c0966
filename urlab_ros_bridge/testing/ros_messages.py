# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Messages that a test waits for, counted in simulation time."""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import TypeVar

from rclpy._rclpy_pybind11 import RCLError
from rclpy.executors import Executor
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy
from rclpy.qos import QoSProfile
from rclpy.qos import ReliabilityPolicy
from rosgraph_msgs.msg import Clock

from urlab_ros_bridge.testing.errors import NotInTime
from urlab_ros_bridge.testing.motion import WALL_SECONDS

Message = TypeVar('Message')

_POLL_SECONDS = 0.01
_DEPTH = 200


class SimulationClock:
    """
    How much simulation time has passed, by /clock; a jump back starts over.

    :ivar passed: s, since the first message.
    """

    def __init__(self, node: Node) -> None:
        self.passed = 0.0
        self._last: int | None = None
        self._node = node
        profile = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        self._subscription = node.create_subscription(Clock, '/clock', self._note_clock, profile)

    def close(self) -> None:
        """End the subscription."""
        self._node.destroy_subscription(self._subscription)

    def _note_clock(self, message: Clock) -> None:
        now = message.clock.sec * 10**9 + message.clock.nanosec
        if self._last is not None and now >= self._last:
            self.passed += (now - self._last) * 1e-9
        elif self._last is not None:
            self.passed = 0.0
        self._last = now


def wait_for_message(
    node: Node,
    message_type: type[Message],
    topic: str,
    timeout: float,
    predicate: Callable[[Message], object] = lambda message: True,
    *,
    wall_timeout: float = WALL_SECONDS,
    qos: QoSProfile | None = None,
    check: Callable[[], object] = lambda: None,
) -> Message:
    """
    Wait for a message that comes from now on and satisfies a predicate, and return it.

    If the node is in an executor, the caller spins that; otherwise the node is spun here.

    :param timeout: s of simulation time, by /clock; while time is frozen none passes.
    :param predicate: what must be true of the message.
    :param wall_timeout: s of wall time.
    :param qos: of the subscription; None: reliable and latched where all publishers are.
    :param check: called while it waits; raises when no message can come any more.
    :raises NotInTime: when none has come; it says how many messages came, and who publishes.
    """
    found: list[Message] = []
    heard = 0

    def take(message: Message) -> None:
        nonlocal heard
        heard += 1
        if not found and predicate(message):
            found.append(message)

    with _Spinning(node) as spin:
        clock = SimulationClock(node)
        subscription = None
        refused: RCLError | None = None
        end = time.monotonic() + wall_timeout
        name = node.resolve_topic_name(topic)
        try:
            while not found:
                if subscription is None and (qos or node.count_publishers(name)):
                    profile = qos or matching_profile(node, name)
                    try:
                        subscription = node.create_subscription(message_type, topic, take, profile)
                    except RCLError as error:  # one of another type may not quite be gone
                        refused = error
                spin()
                if not found:
                    check()
                if clock.passed >= timeout or time.monotonic() >= end:
                    why = f'{timeout:g} s of simulation time'
                    if clock.passed < timeout:
                        why = (
                            f'{wall_timeout:g} s of wall time, in which {clock.passed:g} s of '
                            'simulation time passed'
                        )
                    raise NotInTime(_silence(node, message_type, name, heard, why)) from refused
            return found[0]
        finally:
            clock.close()
            if subscription is not None:
                node.destroy_subscription(subscription)


def matching_profile(node: Node, topic: str) -> QoSProfile:
    """Return a profile that all present publishers of a topic match, as strict as they are."""
    offered = [info.qos_profile for info in node.get_publishers_info_by_topic(topic)]
    profile = QoSProfile(depth=_DEPTH, reliability=ReliabilityPolicy.BEST_EFFORT)
    if offered and all(each.reliability == ReliabilityPolicy.RELIABLE for each in offered):
        profile.reliability = ReliabilityPolicy.RELIABLE
    if offered and all(each.durability == DurabilityPolicy.TRANSIENT_LOCAL for each in offered):
        profile.durability = DurabilityPolicy.TRANSIENT_LOCAL
    return profile


def _silence(node: Node, wanted: type, topic: str, heard: int, why: str) -> str:
    kind = f'{wanted.__module__.partition(".")[0]}/msg/{wanted.__name__}'
    if heard:
        return f'{topic}: none of {heard} messages satisfied the predicate within {why}'
    types = {info.topic_type for info in node.get_publishers_info_by_topic(topic)}
    if types - {kind}:
        return f'{topic} is published as {", ".join(sorted(types))}, not as {kind}'
    if types:
        return f'{topic}: no message within {why}, though it has a publisher'
    others = sorted(
        name
        for name, kinds in node.get_topic_names_and_types()
        if kind in kinds and node.count_publishers(name)
    )
    there = f'; {kind} is published on: {", ".join(others)}' if others else ''
    return f'{topic} had no publisher within {why}{there}'


class _Spinning:
    """Spins a node that is in no executor; waits a moment for one that is."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._own: Executor | None = None

    def __enter__(self) -> Callable[[], None]:
        if self._node.executor is not None:
            return lambda: time.sleep(_POLL_SECONDS)
        self._own = SingleThreadedExecutor(context=self._node.context)
        self._own.add_node(self._node)
        own = self._own
        return lambda: own.spin_once(timeout_sec=_POLL_SECONDS)

    def __exit__(self, *_: object) -> None:
        if self._own is not None:
            self._own.remove_node(self._node)
            self._own.shutdown()


__all__ = ['SimulationClock', 'matching_profile', 'wait_for_message']
