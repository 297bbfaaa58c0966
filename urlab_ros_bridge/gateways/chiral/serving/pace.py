# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""How a robot moves in time: what lockstep and real time have in common."""

from __future__ import annotations

from abc import ABC
from abc import abstractmethod
from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from typing import TypeAlias

from urlab_ros_bridge.client.replies.observations import StepResult
from urlab_ros_bridge.gateways.motion.target import Target
from urlab_ros_bridge.gateways.simulation.clocks import stamp
from urlab_ros_bridge.gateways.simulation.link import SimulationLink

# A base stops after this many control periods without a command, at least after this time (s).
TWIST_PERIODS = 3
TWIST_SECONDS = 0.25

# Computes targets from the last state and the setpoint that the first target starts from.
Resolve: TypeAlias = Callable[[StepResult, Target], list[Target]]


@dataclass(frozen=True, slots=True)
class TimedState:
    """
    One reply of the server, and the setpoint in force then.

    :ivar stamp: in the clock of the profile.
    """

    seen: StepResult
    target: Target
    stamp: float


@dataclass(frozen=True, slots=True)
class RobotControl:
    """
    How one robot is commanded and observed.

    :ivar rate: commands per second of simulated time: a control period is one over it.
    :ivar interpolation_rate: setpoints per second on the way to a target; None: at once.
    :ivar hold: returns the setpoint that keeps the robot as it was seen.
    :ivar smooth: actuators whose setpoints are interpolated.
    :ivar raw: whether controls bypass the controller of the articulation.
    :ivar observations: level of detail of observations.
    :ivar cameras: of observations, name -> ``sync`` or ``latest``.
    :ivar clock: of stamps, one of `CLOCKS`.
    """

    prefix: str
    rate: float
    interpolation_rate: float | None
    hold: Callable[[StepResult], Target]
    smooth: frozenset[str] = frozenset()
    raw: bool = False
    observations: str = 'standard'
    cameras: Mapping[str, str] = field(default_factory=dict)
    clock: str = 'sim'


class Pace(ABC):
    """
    Moves one robot from target to target, in lockstep or in real time.

    :ivar in_order: whether a command has to wait for the requests before it.
    """

    in_order = True

    def __init__(self, link: SimulationLink, control: RobotControl) -> None:
        """
        Take over the robot in its current state.

        :raises UrlabError: when the server does not allow this pace.
        """
        self._link = link
        self._control = control

    @abstractmethod
    def act(self, resolve: Resolve, took_effect: Callable[[float], None]) -> None:
        """
        Move to targets, one per control period.

        :param resolve: chooses them, while nothing else moves the robot; when it raises, nothing
            has moved.
        :param took_effect: called once with the time at which the first one is commanded.
        :raises UrlabError: when the server refuses or does not answer.
        """

    @abstractmethod
    def timed_state(self) -> TimedState:
        """
        Return the current state; may be called from several threads.

        :raises UrlabError: when it cannot be read.
        """

    @abstractmethod
    def begin(self, reset: Callable[[], StepResult], settle: float = 0.0) -> StepResult:
        """
        Reset the world; earlier commands are dropped.

        :param reset: called while nothing else moves the robot.
        :param settle: simulated seconds that pass before the next state.
        :returns: what `reset` has returned.
        """

    @abstractmethod
    def command(self, target: Target) -> None:
        """Put a setpoint in force at once."""

    @abstractmethod
    def current(self) -> tuple[StepResult, Target]:
        """Return the current state and the setpoint in force."""

    @abstractmethod
    def close(self) -> None:
        """Release the robot; it is not used afterwards."""

    def _step(
        self, target: Target, n_steps: int = 1, *, images: bool = False, live: bool = False
    ) -> StepResult:
        """
        Command a setpoint; in direct mode the world advances by `n_steps`.

        :param live: only in live mode, see `SimulationLink.step`.
        """
        control = self._control
        return self._link.step(
            {control.prefix: target},
            n_steps,
            raw=(control.prefix,) if control.raw else (),
            cameras=control.cameras if images else None,
            observations=control.observations,
            live=live,
        )

    def _set_twist(self, target: Target, *, by_wall_clock: bool) -> None:
        """
        Command the twist of a target that has one; without further ones the base stops.

        :param by_wall_clock: whether it ends by that too, see `SimulationLink.set_twist`.
        """
        if target.twist is not None:
            timeout = max(TWIST_SECONDS, TWIST_PERIODS / self._control.rate)
            prefix = self._control.prefix
            self._link.set_twist(prefix, target.twist, timeout, by_wall_clock=by_wall_clock)

    def _timed(self, seen: StepResult, target: Target) -> TimedState:
        """Return a reply just received, with its timestamp."""
        return TimedState(seen, target, stamp(seen, self._control.clock))


__all__ = ['Pace', 'Resolve', 'RobotControl', 'TimedState']
