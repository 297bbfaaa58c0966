# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Lockstep, switched on and off."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
import threading
from typing import Any

from urlab_ros_bridge.ros.commands.commands import Commands
from urlab_ros_bridge.ros.commands.sender import FINAL_SECONDS
from urlab_ros_bridge.ros.extras.lockstep.drive import timestep_of
from urlab_ros_bridge.ros.extras.lockstep.rounds import Rounds
from urlab_ros_bridge.ros.extras.lockstep.rules import LockstepParameters
from urlab_ros_bridge.ros.extras.lockstep.rules import steps_of
from urlab_ros_bridge.ros.extras.lockstep.rules import Terms
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.features.feature import Status
from urlab_ros_bridge.ros.features.stepping import ActiveLockstep
from urlab_ros_bridge.ros.link.connection import ServerLink
from urlab_ros_bridge.wire.stamp import NANOSECONDS


class Lockstep(Part):
    """
    The lockstep of a bridge.

    While it is off there is no thread, and commands and ticks take their usual path.

    :ivar ended: why the last one ended, empty when it was requested.
    """

    def __init__(self, bridge: Bridge) -> None:
        """Prepare; with the parameter lockstep_topics `start` begins one."""
        self.ended = ''
        self._bridge = bridge
        self._link = bridge.part(ServerLink)
        self._gate = bridge.part(Commands).gate
        self._lock = threading.Lock()
        self._rounds: Rounds | None = None
        options = bridge.settings(LockstepParameters)
        topics = tuple(name for name in options.lockstep_topics if name)
        self._terms = Terms(topics, options.lockstep_period, options.lockstep_timeout)
        if self._terms.topics:
            # A server that is in lockstep from the start must not be set to live mode first.
            self._switch(True)

    @property
    def on(self) -> bool:
        """Whether the simulation is in lockstep."""
        return self._rounds is not None

    def start(self) -> None:
        """Begin if a parameter says so."""
        if self._terms.topics:
            try:
                self.begin(timeout=self._terms.timeout)
            except ValueError as error:
                self._ended(str(error))

    def begin(
        self, topics: tuple[str, ...] = (), period: float = 0.0, timeout: float = 0.0
    ) -> Terms:
        """
        Begin, and end one that is under way; return the terms.

        :param topics: none: those of the last time.
        :param period: s of simulation time, 0: that of the parameter.
        :param timeout: s of wall time to wait for an answer, 0: forever.
        :raises ValueError: when there are no topics, one is not a name, or the period does not
            fit.
        :raises UrlabError: when the timestep is not known.
        """
        last = self._terms
        usual = self._bridge.settings(LockstepParameters).lockstep_period
        terms = Terms(topics or last.topics, period or usual, timeout)
        if not terms.topics:
            raise ValueError('topics is empty, and so is the parameter lockstep_topics')
        handshake = self._link.handshake
        if handshake is not None:
            steps_of(terms.period, timestep_of(handshake))
        rounds, present = Rounds(self._bridge, terms, self._ended), self._rounds
        if present is not None:
            self.end(restore=False)
            rounds.take_over_from(present)
        with self._lock:
            self._terms, self.ended = terms, ''
            self._switch(True)
            self._rounds = rounds
            rounds.start()
        return terms

    def stop(self) -> None:
        """End it because the bridge ends, which waits for no server."""
        self.end(patience=FINAL_SECONDS)

    def end(self, why: str = '', restore: bool = True, patience: float = 10.0) -> bool:
        """
        End it; return whether it was on.

        :param why: goes into the log.
        :param restore: put the server back into the mode that it had before.
        :param patience: s that the server may take for it.
        """
        with self._lock:
            rounds, self._rounds = self._rounds, None
        if rounds is None:
            return False
        rounds.stop(restore, patience)
        self._switch(False)
        if why:
            self._bridge.log('warning', f'lockstep ended: {why}')
        return True

    def tick(self, stamp_ns: int) -> None:
        """Record that everything of this time was published; called in the stream thread."""
        if self._rounds is not None:
            self._gate.published(stamp_ns)

    def jump(self, stamp_ns: int, went_back: bool) -> None:
        """Begin another instant when time goes back; called in the stream thread."""
        if went_back and self._rounds is not None:
            self._gate.reset()

    def statuses(self) -> Iterable[Status]:
        """Return the state and the figures of the present lockstep."""
        well, text, values = self.report()
        return [Status('lockstep', text, values, 'ok' if well else 'warning')]

    def report(self) -> tuple[bool, str, dict[str, Any]]:
        """Return whether all is well, a status text, and figures."""
        rounds = self._rounds
        if rounds is None:
            return not self.ended, f'off: {self.ended}' if self.ended else 'off', {}
        waited, terms = rounds.waited, rounds.terms
        waiting = waited > 1.0 and rounds.activity != 'paused'
        text = f'{rounds.activity} for {waited:.0f} s' if waiting else rounds.activity
        values: dict[str, Any] = {
            'topics': ', '.join(terms.topics),
            'period (s)': terms.period,
            'timeout (s)': terms.timeout,
            'rounds': rounds.count,
            'rounds per s': rounds.rate,
            'real time factor': rounds.rate * terms.period,
            'images missed': rounds.images.missed,
        }
        for topic, count in rounds.unanswered.items():
            values[f'{topic} unanswered'] = count
        for topic, (count, stamp_ns) in rounds.late.items():
            values[f'{topic} with an earlier stamp'] = count
            values[f'{topic} last earlier stamp (s)'] = stamp_ns / NANOSECONDS
        return not waiting, f'on: {text}', values

    def _switch(self, on: bool) -> None:
        period_ns = round(self._terms.period * NANOSECONDS)
        active = ActiveLockstep(period_ns, self._gate.notify, partial(self.end, restore=False))
        self._bridge.stepping.lockstep = active if on else None

    def _ended(self, reason: str) -> None:
        """Record that it has ended by itself; called in its thread."""
        with self._lock:
            self._rounds = None
            self.ended = reason
        self._switch(False)
        self._bridge.log('warning', f'lockstep ended: {reason}')
