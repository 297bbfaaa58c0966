# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The thread that commands the arms and bases of users."""

from __future__ import annotations

from collections.abc import Callable
import logging
import threading
import time

import numpy as np

from urlab_ros_bridge.gateways.motion.target import Twist
from urlab_ros_bridge.gateways.serving.latest import PeriodicThread
from urlab_ros_bridge.gateways.simulation.link import SimulationLink
from urlab_ros_bridge.gateways.virtual_field.steering.operator import Operator
from urlab_ros_bridge.gateways.virtual_field.steering.operator import STOPPED
from urlab_ros_bridge.limited_log import LimitedLog
from urlab_ros_bridge.wire.errors import UrlabError

_LOG = logging.getLogger(__name__)

RATE = 72.0  # Hz
# The server stops a base that gets no command for this time (simulated s).
TWIST_SECONDS = 0.5
_REPEAT = 0.1  # s


class Steering:
    """
    Moves the arms and bases of all users at a fixed rate.

    :param positions: returns qpos of the whole model, None before the first state.
    """

    def __init__(
        self,
        link: SimulationLink,
        positions: Callable[[], np.ndarray | None],
        rate: float = RATE,
    ) -> None:
        self._link = link
        self._positions = positions
        self._period = 1 / rate
        self._lock = threading.Lock()
        self._operators: dict[str, Operator] = {}
        self._twists: dict[str, tuple[Twist, float]] = {}
        self._log = LimitedLog(_LOG)
        self._thread = PeriodicThread('webxr-steering', self._act, rate)
        self._thread.start()

    def add(self, user_id: str, operator: Operator) -> None:
        """Set the operator of a user."""
        with self._lock:
            self._operators[user_id] = operator

    def remove(self, user_id: str) -> None:
        """Remove the operator of a user: its arms hold, its base stops."""
        with self._lock:
            self._operators.pop(user_id, None)

    def find(self, user_id: str) -> Operator | None:
        """Return the operator of a user, None without one."""
        return self._operators.get(user_id)

    def stop(self) -> None:
        """Stop all bases and end; safe to call twice."""
        self._thread.stop()
        with self._lock:
            self._operators.clear()
        self._act()

    def _act(self) -> None:
        with self._lock:
            operators = list(self._operators.values())
        try:
            self._command(operators)
        except UrlabError as error:
            if not self._link.is_lost:
                self._log.warning('a command was lost: %s', error)

    def _command(self, operators: list[Operator]) -> None:
        wanted = {operator.base: operator.twist() for operator in operators if operator.base}
        qpos = self._positions()
        now = time.monotonic()
        if qpos is not None:
            setpoints: dict[str, dict[str, float]] = {}
            for operator in operators:
                for prefix, ctrl in operator.act(qpos, now, self._period).items():
                    setpoints.setdefault(prefix, {}).update(ctrl)
            for prefix, ctrl in setpoints.items():
                self._link.set_setpoints(prefix, ctrl)
        # A base that has lost its operator is stopped here.
        for prefix in {*wanted, *self._twists}:
            self._set_twist(prefix, wanted.get(prefix, STOPPED), now)

    def _set_twist(self, prefix: str, twist: Twist, now: float) -> None:
        last, at = self._twists.get(prefix, (STOPPED, now))
        if twist == last and (twist == STOPPED or now - at < _REPEAT):
            return
        self._link.set_twist(prefix, twist, TWIST_SECONDS)
        if twist == STOPPED:
            self._twists.pop(prefix, None)
        else:
            self._twists[prefix] = twist, now


__all__ = ['RATE', 'Steering']
