# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Commands in lockstep wait here until every awaited topic has answered the present instant.

An instant is a time at which the simulation waits.  Messages on the awaited topics are held until
it ends, and then carried out in the order in which the topics were named.  So the next step
depends on the answers and not on their order of arrival.  While lockstep is off, every command
passes straight through.

Which message is an answer:

- One without a stamp answers the instant at which it arrives.
- One with a stamp answers the instant of that time and earlier ones.
- After a reset, a stamp between the new time and the time before the reset is that of an old
  message, which answers nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from dataclasses import dataclass
import threading
import time
from typing import Any
from typing import NamedTuple

from urlab_ros_bridge.ros.messages.stamps import stamp_of

# Takes a message, and why it is stale where it is.
Receive = Callable[..., None]


@dataclass
class Instant:
    """
    One instant.

    :ivar stamp_ns: None before the reply to the step: nodes may be quicker.
    :ivar began_with_reset: whether a reset began it, in place of a step.
    """

    stamp_ns: int | None = None
    began_with_reset: bool = False


class _Held(NamedTuple):
    """A command, and when it arrived (s by time.monotonic)."""

    receive: Receive
    message: Any
    arrived: float


class AnswerGate:
    """
    The answers to one instant; thread-safe.

    The executor brings the messages, the stream tells what is published and when time jumps, and
    the lockstep's thread begins and ends instants.

    :ivar command_topics: resolved names of the command topics that pass through here.
    :ivar late: topic -> number of messages with the stamp of an earlier instant, and the last such
        stamp (ns).
    """

    def __init__(self, max_age: Callable[[], float] = lambda: 0.0) -> None:
        """
        Await nothing yet.

        :param max_age: returns for how long a command may be held (s), 0: forever.
        """
        self.command_topics: set[str] = set()
        self.late: dict[str, tuple[int, int]] = {}
        self._max_age = max_age
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        # By awaited topic: stamps of its messages since the instant began, 0 for none, and the
        # commands to carry out when it ends.
        self._arrived: dict[str, list[int]] = {}
        self._held: dict[str, list[_Held]] = {}
        self._instant = Instant()
        self._published_ns: int | None = None
        self._newest_ns = self._before_reset_ns = 0

    def hold(self, topic: str, message: Any, receive: Receive) -> bool:
        """
        Hold the message of a command topic if the topic is awaited; return whether it is.

        :param topic: resolved name.
        :param receive: is called with the message when the instant ends.
        """
        return topic in self._held and self.record_answer(
            topic, stamp_of(message), message, receive
        )

    def arm(self, topics: Iterable[str]) -> None:
        """Await answers on these topics from now on."""
        with self._lock:
            self._arrived = {topic: [] for topic in topics}
            self._held = {topic: [] for topic in self._arrived}
            self.late = {}
            self._instant = Instant()
            self._newest_ns = self._before_reset_ns = 0

    def disarm(self) -> None:
        """Await nothing any more, and carry out the commands that were held."""
        with self._lock:
            held = [each for topic in self._held.values() for each in topic]
            self._arrived, self._held = {}, {}
            self._changed.notify_all()
        limit = self._max_age()
        for receive, message, arrived in held:
            age = time.monotonic() - arrived
            receive(message, f'lockstep delayed it by {age:.1f} s' if 0 < limit < age else '')

    def begin_instant(self) -> Instant | None:
        """
        Begin the instant that a step leads to, before the step is requested.

        :return: None when a reset has begun one that was not waited for yet.
        """
        with self._lock:
            if self._instant.began_with_reset:
                return None
            self._begin(Instant())
            return self._instant

    def set_stamp(self, instant: Instant, stamp_ns: int) -> None:
        """Set the time of an instant, unless another one has begun since."""
        with self._lock:
            if instant is self._instant:
                self._set_stamp(stamp_ns)

    def wait(self, timeout: float, also: Callable[[], bool] = lambda: True) -> bool:
        """
        Wait until the instant was published and every topic has answered.

        :param timeout: s.
        :param also: another condition, which is checked again after `notify`.
        """
        with self._lock:
            return self._changed.wait_for(lambda: self._is_complete and also(), timeout)

    def end_instant(self) -> list[tuple[Receive, Any]]:
        """End the instant; return the commands to carry out, in order."""
        with self._lock:
            self._instant.began_with_reset = False
            held = [
                (each.receive, each.message) for topic in self._held.values() for each in topic
            ]
            self._clear_held()
            return held

    def record_answer(
        self, topic: str, stamp_ns: int, message: Any = None, receive: Receive | None = None
    ) -> bool:
        """
        Record a message of a topic; return False when the topic is not awaited.

        :param stamp_ns: 0: it has none.
        :param receive: is to be called with the message when the instant ends; None: nothing is.
        """
        with self._lock:
            if topic not in self._arrived:
                return False
            if receive is not None:
                self._held[topic].append(_Held(receive, message, time.monotonic()))
            stamp_ns = max(stamp_ns, 0)
            self._arrived[topic].append(stamp_ns)
            if self._instant.stamp_ns is not None:
                self._count_if_late(topic, stamp_ns)
            self._notify_if_complete()
        return True

    def published(self, stamp_ns: int) -> None:
        """Record that everything of this time was published."""
        with self._lock:
            instant, self._published_ns = self._instant, stamp_ns
            if instant.stamp_ns is None:
                is_new = instant.began_with_reset
            else:  # later, because another client has stepped
                is_new = stamp_ns > instant.stamp_ns
            if is_new:
                self._set_stamp(stamp_ns)
            self._notify_if_complete()

    def reset(self) -> None:
        """Begin an instant that no step leads to: time goes back."""
        with self._lock:
            if self._arrived:
                self._before_reset_ns = max(self._newest_ns, self._before_reset_ns)
                self._published_ns = None
                self._begin(Instant(began_with_reset=True))
                self._clear_held()

    def notify(self) -> None:
        """Make waiting threads check their conditions again."""
        with self._lock:
            self._changed.notify_all()

    def unanswered(self) -> list[str]:
        """Return the topics without an answer to the present instant."""
        with self._lock:
            return [
                topic
                for topic, stamps in self._arrived.items()
                if not any(map(self._is_answer, stamps))
            ]

    @property
    def is_published(self) -> bool:
        """Whether the present instant was published."""
        return self.stamp_ns is not None and self._published_ns == self.stamp_ns

    @property
    def stamp_ns(self) -> int | None:
        """Time of the present instant, None while it is not known."""
        return self._instant.stamp_ns

    @property
    def _is_complete(self) -> bool:
        return self.is_published and not self.unanswered()

    def _notify_if_complete(self) -> None:
        """Wake waiting threads only when the instant is complete: a wake-up delays the round."""
        if self._is_complete:
            self._changed.notify_all()

    def _begin(self, instant: Instant) -> None:
        self._instant = instant
        for stamps in self._arrived.values():
            stamps.clear()

    def _clear_held(self) -> None:
        for held in self._held.values():
            held.clear()

    def _set_stamp(self, stamp_ns: int) -> None:
        self._instant.stamp_ns = self._newest_ns = stamp_ns
        for topic, stamps in self._arrived.items():
            for each in stamps:
                self._count_if_late(topic, each)
        self._notify_if_complete()

    def _is_answer(self, message_ns: int) -> bool:
        """Return whether a message with this stamp (0: none) answers the present instant."""
        now = self.stamp_ns
        if not message_ns or now is None:
            return not message_ns
        is_old = now < message_ns <= self._before_reset_ns
        return message_ns >= now and not is_old

    def _count_if_late(self, topic: str, message_ns: int) -> None:
        if not self._is_answer(message_ns):
            count, _ = self.late.get(topic, (0, 0))
            self.late[topic] = count + 1, message_ns
