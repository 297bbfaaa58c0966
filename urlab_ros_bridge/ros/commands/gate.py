# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The answers of the current instant in lockstep, held until it is complete.

Messages on the topics that are waited for are kept here until the instant is over, and then
carried out in the order in which the topics were named: what the simulation does next depends on
what the nodes answered, and not on which was quicker.  While lockstep is off every command passes
straight through.

A message with a stamp is the answer to the instant of that time or an earlier one; one
without answers the instant at which it arrives.  After a reset, messages from the time before
it are ahead of the new time: they are not answers.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
import threading
import time
from typing import Any

from urlab_ros_bridge.ros.messages.stamp_of import has_stamp
from urlab_ros_bridge.ros.messages.stamp_of import message_stamp
from urlab_ros_bridge.ros.messages.stamp_of import Stamp
from urlab_ros_bridge.ros.messages.stamp_of import unstamped

# Takes a message, and why it is stale where it is.
Receive = Callable[..., None]


class _Answers:
    """The messages of one topic since the instant began."""

    def __init__(self) -> None:
        self.untimed = False
        self.stamps: list[int] = []
        # Receiver, message, and arrival time (s by time.monotonic).
        self.todo: list[tuple[Receive, Any, float]] = []

    def begin(self) -> None:
        self.untimed = False
        self.stamps.clear()


class AnswerGate:
    """
    The answers of one instant; for every thread.

    :ivar own: resolved name -> message type of the command topics that pass through here.
    :ivar late: topic -> messages that spoke of an earlier instant, and the last such time (ns).
    """

    def __init__(self, max_age: Callable[[], float] = lambda: 0.0) -> None:
        """
        Start disarmed.

        :param max_age: returns for how long a command may be kept (s), 0: forever.
        """
        self._max_age = max_age
        self.own: dict[str, type] = {}
        self.late: dict[str, tuple[int, int]] = {}
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._topics: dict[str, _Answers] = {}
        self._round = 0
        self._stamp: int | None = None
        self._published: int | None = None
        self._jumped = False
        self._newest = 0
        self._before_jump = 0

    def wrap(self, topic: str, kind: type, receive: Receive) -> Receive:
        """
        Return what takes the messages of a command topic in place of `receive`.

        It also takes why one is stale, empty when it is not.

        :param topic: resolved name.
        """
        self.own[topic] = kind
        stamp = message_stamp if has_stamp(kind) else unstamped

        def take(message: Any, stale: str = '') -> None:
            # An answer belongs to its instant, however much wall time has passed.
            if topic not in self._topics or not self.record_answer(topic, message, stamp, receive):
                receive(message, stale)

        return take

    def arm(self, topics: Iterable[str]) -> None:
        """Wait for these topics from now on."""
        with self._lock:
            self._topics = {topic: _Answers() for topic in topics}
            self.late = {}
            self._newest = self._before_jump = 0
            self._begin()
            self._jumped = False

    def disarm(self) -> None:
        """Stop waiting, and carry out the messages that were kept."""
        with self._lock:
            kept, self._topics = self._topics, {}
            self._changed.notify_all()
        now, limit = time.monotonic(), self._max_age()
        for answers in kept.values():
            for receive, message, arrived in answers.todo:
                old = 0 < limit < now - arrived
                text = f'lockstep delayed it by {now - arrived:.1f} s' if old else ''
                receive(message, text)

    def open(self) -> int | None:
        """
        Begin a new instant, before it is published; return its number.

        :return: None when a jump has begun one that is not waited for yet.
        """
        with self._lock:
            return None if self._jumped else self._begin()

    def expect(self, number: int, stamp_ns: int) -> None:
        """Return which time an instant has, unless another one has begun since."""
        with self._lock:
            if number == self._round:
                self._set(stamp_ns)

    def jump(self) -> None:
        """Begin an unrequested instant: time goes back, and nothing of it is out yet."""
        with self._lock:
            if self._topics:
                self._before_jump = max(self._newest, self._before_jump)
                self._begin()
                for answers in self._topics.values():
                    answers.todo.clear()
                self._published = None
                self._jumped = True

    def published(self, stamp_ns: int) -> None:
        """Note that everything of this time was published."""
        with self._lock:
            self._published = stamp_ns
            known = self._stamp
            # Without a time yet after a jump this is it; a later one: another client has stepped.
            if (known is None and self._jumped) or (known is not None and stamp_ns > known):
                self._set(stamp_ns)
            self._wake()

    def record_answer(
        self, topic: str, message: Any, stamp: Stamp, receive: Receive | None
    ) -> bool:
        """
        Keep a message of a topic; false when nothing waits for it.

        :param receive: carries the message out when the instant is over.
        """
        stamp_ns = stamp(message)
        with self._lock:
            answers = self._topics.get(topic)
            if answers is None:
                return False
            if receive is not None:
                answers.todo.append((receive, message, time.monotonic()))
            if stamp_ns <= 0:
                answers.untimed = True
            else:
                answers.stamps.append(stamp_ns)
                if self._stamp is not None and not self._fits(stamp_ns):
                    self._note_late(topic, stamp_ns)
            self._wake()
        return True

    def finish(self) -> list[tuple[Receive, Any]]:
        """End the instant; return what is to be carried out, in order."""
        with self._lock:
            self._jumped = False
            todo = [item[:2] for answers in self._topics.values() for item in answers.todo]
            for answers in self._topics.values():
                answers.todo.clear()
            return todo

    def silent(self) -> list[str]:
        """Return the topics that have not answered."""
        with self._lock:
            return self._silent()

    @property
    def shown(self) -> bool:
        """Whether the present instant was published."""
        return self._stamp is not None and self._published == self._stamp

    @property
    def stamp_ns(self) -> int | None:
        """Time of the present instant, None while it is not known."""
        return self._stamp

    def wait(self, timeout: float, also: Callable[[], bool] = lambda: True) -> bool:
        """
        Wait until the instant was published and every topic has answered.

        :param also: another condition; `notify` has it looked at again.
        """
        deadline = time.monotonic() + timeout
        with self._lock:
            while not (over := self.shown and not self._silent() and also()):
                left = deadline - time.monotonic()
                if left <= 0:
                    break
                self._changed.wait(left)
            return over

    def notify(self) -> None:
        """Wake the waiting threads to check again."""
        with self._lock:
            self._changed.notify_all()

    def _wake(self) -> None:
        """Wake waiting threads only when the instant is complete: each wake-up costs a round."""
        if self.shown and not self._silent():
            self._changed.notify_all()

    def _begin(self) -> int:
        self._round += 1
        self._stamp = None
        for answers in self._topics.values():
            answers.begin()
        return self._round

    def _set(self, stamp_ns: int) -> None:
        self._stamp = stamp_ns
        self._newest = stamp_ns if self._jumped else max(self._newest, stamp_ns)
        for topic, answers in self._topics.items():
            for each in answers.stamps:
                if not self._fits(each):
                    self._note_late(topic, each)
        self._wake()

    def _note_late(self, topic: str, stamp_ns: int) -> None:
        self.late[topic] = (self.late.get(topic, (0, 0))[0] + 1, stamp_ns)

    def _fits(self, stamp_ns: int) -> bool:
        """Return whether a time is that of the present instant or later, and not from before."""
        now = self._stamp
        if now is None:
            return False
        return stamp_ns >= now and not now < stamp_ns <= self._before_jump

    def _silent(self) -> list[str]:
        return [
            topic
            for topic, answers in self._topics.items()
            if not answers.untimed and not any(map(self._fits, answers.stamps))
        ]
