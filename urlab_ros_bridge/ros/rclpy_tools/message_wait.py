# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Receiving messages in a thread of its own instead of the executor's.

An executor hands each message on to the thread that waits for it, which is one thread more to wake
for each message.  Where a thread does nothing else but wait, it may as well take the message
itself: its node lends it the subscriptions, and takes them back.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any

from rclpy.exceptions import InvalidHandle
from rclpy.guard_condition import GuardCondition
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.subscription import Subscription

from urlab_ros_bridge.wire.stamp import NANOSECONDS


class LendingNode(Node):
    """A node that can keep subscriptions from its executor."""

    _lent: tuple[Subscription, ...] = ()

    @property
    def subscriptions(self) -> Iterator[Subscription]:
        """Return the subscriptions that the executor takes messages of."""
        lent = self._lent
        return (each for each in self.all_subscriptions if each not in lent)

    @property
    def all_subscriptions(self) -> Iterator[Subscription]:
        """Return all subscriptions."""
        return super().subscriptions

    def lend(self, subscriptions: Iterable[Subscription]) -> None:
        """
        Keep these subscriptions from the executor from now on, and no others.

        It takes note of it soon; until then it takes some of their messages yet.
        """
        self._lent = tuple(subscriptions)
        executor = self.executor
        if executor is not None:
            executor.wake()


class MessageWait:
    """
    Waits for messages of lent subscriptions, and calls their callbacks.

    One thread waits; any thread may wake it.
    """

    def __init__(self, node: LendingNode, serialised: bool = False) -> None:
        """
        Wait for nothing yet but for being woken.

        :param serialised: messages come as bytes, also where the subscription has them as objects.
        """
        self._node = node
        self._serialised = serialised
        self._context: Any = node.context.handle
        self._guard = GuardCondition(None, None, node.context)
        self._subscriptions: tuple[Subscription, ...] = ()
        self._wait_set: Any = None
        self._asleep = False

    def take_over(self, subscriptions: Iterable[Subscription]) -> None:
        """Take the messages of these subscriptions; none: give all back."""
        self._subscriptions = tuple(subscriptions)
        self._wait_set = None
        self._node.lend(self._subscriptions)

    def close(self) -> None:
        """Give the subscriptions back, for good."""
        self.take_over(())
        self._guard.destroy()

    def wake(self) -> None:
        """Have the waiting thread look again."""
        if self._asleep:
            self._guard.trigger()

    def wait(self, seconds: float, is_over: Callable[[], bool]) -> bool:
        """
        Wait until a message has come or `wake` is called, unless there is no need to.

        :param is_over: whatever makes it true calls `wake`.
        :return: whether it is over now.
        """
        self._asleep = True  # first, so that no change after the look is missed
        try:
            if is_over():
                return True
            with self._context:
                self._sleep_and_take(seconds)
            return is_over()
        finally:
            self._asleep = False

    def _sleep_and_take(self, seconds: float) -> None:
        """Wait, and take a message of each subscription that has some."""
        known: list[Subscription] = []
        try:
            for each in self._subscriptions:
                if _hold(each.handle):
                    known.append(each)
            ready = self._sleep(seconds, known)
            self._asleep = False
            for each in ready:
                self._take(each)
        finally:
            for each in known:
                each.handle.__exit__(None, None, None)

    def _sleep(self, seconds: float, known: list[Subscription]) -> list[Subscription]:
        """Return which of some subscriptions have messages, after waiting for some."""
        if self._wait_set is None:
            count = len(self._subscriptions)
            self._wait_set = _rclpy.WaitSet(count, 1, 0, 0, 0, 0, self._context)
        wait_set = self._wait_set
        wait_set.clear_entities()
        for each in known:
            wait_set.add_subscription(each.handle)
        wait_set.add_guard_condition(self._guard.handle)
        wait_set.wait(round(seconds * NANOSECONDS))
        ready = wait_set.get_ready_entities('subscription')
        return [each for each in known if each.handle.pointer in ready]

    def _take(self, subscription: Subscription) -> None:
        """Take one message and call the callback, as an executor does."""
        raw = self._serialised or subscription.raw
        taken = subscription.handle.take_message(subscription.msg_type, raw)
        if taken is None:  # the executor was quicker
            return
        if subscription._callback_type is Subscription.CallbackType.MessageOnly:
            subscription.callback(taken[0])
        else:
            subscription.callback(*taken)


def _hold(handle: Any) -> bool:
    """Keep something from being destroyed; return false where it is too late for that."""
    try:
        handle.__enter__()
    except InvalidHandle:
        return False
    return True


__all__ = ['LendingNode', 'MessageWait']
