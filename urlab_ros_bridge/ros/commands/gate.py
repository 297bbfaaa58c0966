# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Holds the answers to the current instant in lockstep until all of them have arrived.

Messages on the awaited topics are kept until the instant ends, and then carried out in the order
in which the topics were named.  So the next step depends on the answers and not on their order of
arrival.  While lockstep is off, every command passes straight through.

A message with a stamp answers the instant of that time and earlier ones; one without answers the
instant at which it arrives.  After a reset, the stamps of messages from before it may be ahead of
the new time: they are not answers.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
import threading
import time
from typing import Any

from urlab_ros_bridge.ros.messages.stamps import stamp_of

# Takes a message, and why it is stale where it is.
Receive = Callable[..., None]


class _Answers:
    """The messages of one topic since the instant began."""

    def __init__(self) -> None:
        self.has_unstamped = False
        self.stamps: list[int] = []
        # Receiver, message, and arrival time (s by time.monotonic).
        self.held: list[tuple[Receive, Any, float]] = []

    def clear(self) -> None:
        self.has_unstamped = False
        self.stamps.clear()


class AnswerGate:
    """
    The answers to one instant; thread-safe.

    :ivar command_topics: resolved names of the command topics that pass through here.
    :ivar late: topic -> number of messages with the stamp of an earlier instant, and the last such
        stamp (ns).
    """

    def __init__(self, max_age: Callable[[], float] = lambda: 0.0) -> None:
        """
        Begin disarmed.

        :param max_age: returns for how long a command may be held (s), 0: forever.
        """
        self._max_age = max_age
        self.command_topics: set[str] = set()
        self.late: dict[str, tuple[int, int]] = {}
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._answers: dict[str, _Answers] = {}
        self._number = 0
        self._stamp_ns: int | None = None
        self._published_ns: int | None = None
        self._jumped = False
        self._newest_ns = 0
        self._before_jump_ns = 0

    def wrap(self, topic: str, receive: Receive) -> Receive:
        """
        Return the callback of a command topic, which calls `receive` now or later.

        :param topic: resolved name.
        """
        self.command_topics.add(topic)

        def take(message: Any, stale: str = '') -> None:
            # An answer belongs to its instant, whatever its age in wall time.
            is_held = topic in self._answers and self.record_answer(
                topic, stamp_of(message), message, receive
            )
            if not is_held:
                receive(message, stale)

        return take

    def arm(self, topics: Iterable[str]) -> None:
        """Await answers on these topics from now on."""
        with self._lock:
            self._answers = {topic: _Answers() for topic in topics}
            self.late = {}
            self._newest_ns = self._before_jump_ns = 0
            self._begin()
            self._jumped = False

    def disarm(self) -> None:
        """Await nothing any more, and carry out the messages that were held."""
        with self._lock:
            ended, self._answers = self._answers, {}
            self._changed.notify_all()
        now, limit = time.monotonic(), self._max_age()
        for answers in ended.values():
            for receive, message, arrived in answers.held:
                old = 0 < limit < now - arrived
                receive(message, f'lockstep delayed it by {now - arrived:.1f} s' if old else '')

    def begin_instant(self) -> int | None:
        """
        Begin a new instant, before it is published; return its number.

        :return: None when a jump has begun one that was not waited for yet.
        """
        with self._lock:
            return None if self._jumped else self._begin()

    def set_stamp(self, number: int, stamp_ns: int) -> None:
        """Set the time of an instant, unless another one has begun since."""
        with self._lock:
            if number == self._number:
                self._set_stamp(stamp_ns)

    def end_instant(self) -> list[tuple[Receive, Any]]:
        """End the instant; return the messages to carry out, in order."""
        with self._lock:
            self._jumped = False
            held = [item[:2] for answers in self._answers.values() for item in answers.held]
            for answers in self._answers.values():
                answers.held.clear()
            return held

    def jump(self) -> None:
        """Begin an instant that was not requested: time goes back."""
        with self._lock:
            if self._answers:
                self._before_jump_ns = max(self._newest_ns, self._before_jump_ns)
                self._begin()
                for answers in self._answers.values():
                    answers.held.clear()
                self._published_ns = None
                self._jumped = True

    def published(self, stamp_ns: int) -> None:
        """Record that everything of this time was published."""
        with self._lock:
            self._published_ns = stamp_ns
            known = self._stamp_ns
            # The first time after a jump, or a later one because another client has stepped.
            if (known is None and self._jumped) or (known is not None and stamp_ns > known):
                self._set_stamp(stamp_ns)
            self._notify_if_complete()

    def record_answer(
        self, topic: str, stamp_ns: int, message: Any = None, receive: Receive | None = None
    ) -> bool:
        """
        Record a message of a topic; return False when the topic is not awaited.

        :param stamp_ns: 0: it has none.
        :param receive: is to be called with the message when the instant ends; None: nothing is.
        """
        with self._lock:
            answers = self._answers.get(topic)
            if answers is None:
                return False
            if receive is not None:
                answers.held.append((receive, message, time.monotonic()))
            if stamp_ns <= 0:
                answers.has_unstamped = True
            else:
                answers.stamps.append(stamp_ns)
                if self._stamp_ns is not None and not self._is_answer(stamp_ns):
                    self._count_late(topic, stamp_ns)
            self._notify_if_complete()
        return True

    def unanswered(self) -> list[str]:
        """Return the topics without an answer to the current instant."""
        with self._lock:
            return self._unanswered()

    @property
    def is_published(self) -> bool:
        """Whether the current instant was published."""
        return self._stamp_ns is not None and self._published_ns == self._stamp_ns

    @property
    def stamp_ns(self) -> int | None:
        """Time of the current instant, None while it is not known."""
        return self._stamp_ns

    def wait(self, timeout: float, also: Callable[[], bool] = lambda: True) -> bool:
        """
        Wait until the instant was published and every topic has answered.

        :param also: another condition, which is checked again after `notify`.
        """
        deadline = time.monotonic() + timeout
        with self._lock:
            while not (complete := self._is_complete and also()):
                left = deadline - time.monotonic()
                if left <= 0:
                    break
                self._changed.wait(left)
            return complete

    def notify(self) -> None:
        """Make waiting threads check their conditions again."""
        with self._lock:
            self._changed.notify_all()

    @property
    def _is_complete(self) -> bool:
        return self.is_published and not self._unanswered()

    def _notify_if_complete(self) -> None:
        """Wake waiting threads only when the instant is complete: a wake-up delays the round."""
        if self._is_complete:
            self._changed.notify_all()

    def _begin(self) -> int:
        self._number += 1
        self._stamp_ns = None
        for answers in self._answers.values():
            answers.clear()
        return self._number

    def _set_stamp(self, stamp_ns: int) -> None:
        self._stamp_ns = stamp_ns
        self._newest_ns = stamp_ns if self._jumped else max(self._newest_ns, stamp_ns)
        for topic, answers in self._answers.items():
            for each in answers.stamps:
                if not self._is_answer(each):
                    self._count_late(topic, each)
        self._notify_if_complete()

    def _count_late(self, topic: str, stamp_ns: int) -> None:
        self.late[topic] = (self.late.get(topic, (0, 0))[0] + 1, stamp_ns)

    def _is_answer(self, stamp_ns: int) -> bool:
        """Return whether a stamp is of this instant or later, and not from before a jump."""
        now = self._stamp_ns
        if now is None:
            return False
        return stamp_ns >= now and not now < stamp_ns <= self._before_jump_ns

    def _unanswered(self) -> list[str]:
        return [
            topic
            for topic, answers in self._answers.items()
            if not answers.has_unstamped and not any(map(self._is_answer, answers.stamps))
        ]
