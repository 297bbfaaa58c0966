# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Compute setpoints: a transition to the default pose, the policy, or a safe state."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
import math
import time
from typing import Protocol

import numpy as np

from urlab_ros_bridge.policy.description import HOLD
from urlab_ros_bridge.policy.description import LIMP
from urlab_ros_bridge.policy.description import PolicyDescription
from urlab_ros_bridge.policy.description import PolicyError
from urlab_ros_bridge.policy.description import ZERO
from urlab_ros_bridge.policy.observations import ObservationBuilder
from urlab_ros_bridge.policy.terms import PolicyInputs
from urlab_ros_bridge.policy.terms import Reading

NANOSECONDS = 1_000_000_000
_EARLY = 0.1  # fraction of a period by which a step may be early


class Model(Protocol):
    """Maps an observation to an action."""

    def act(self, observation: np.ndarray) -> np.ndarray:
        """Return (m,) for (n,); raises PolicyError."""


class PolicyPhase(Enum):
    """The state of the controller."""

    WAITING = 'waiting for the sensors'
    STARTING = 'moving to the default pose'
    RUNNING = 'running'
    HOLDING = 'holding the default pose'
    LIMP = 'limp'
    FAILED = 'failed'


class PolicyController:
    """
    Computes setpoints from sensor readings; its only clock is their stamps.

    It starts with a slow transition to the default pose.  Then the model moves the robot while
    velocity commands arrive.  Otherwise the robot moves to the default pose, or its joints go
    limp: their targets follow the measured positions, so that only damping is left.

    :ivar phase: the current state; `why` is its reason, empty while starting or running.
    :ivar steps: number of steps of the model; `late` of them took longer than a period, and
        `skipped` were omitted because there was no reading in their period.
    :ivar last_seconds: duration of the last step (s); `late_seconds` of the last late one.
    """

    def __init__(
        self,
        description: PolicyDescription,
        model: Model,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._description = description
        self._model = model
        self._clock = clock
        self._observer = ObservationBuilder(description)
        self._period_ns = round(NANOSECONDS / description.rate)
        self._default = description.pose(description.joints)
        self._default_observed = description.pose(description.observed)
        self._scale = description.action_scale()
        self._offset = self._default * (description.action.offset == 'default_pose')
        self._limits = description.command.limits()
        self._durations = {
            PolicyPhase.STARTING: description.start_time,
            PolicyPhase.HOLDING: description.hold_time,
        }
        self.steps = self.late = self.skipped = 0
        self.last_seconds = self.late_seconds = 0.0
        self.reset()

    def reset(self) -> None:
        """Return to the initial state."""
        self.phase = PolicyPhase.WAITING
        self.why = ''
        self._command = np.zeros(3)
        self._commanded_ns: int | None = None
        self._now_ns: int | None = None
        self._due_ns = 0
        self._since_ns = 0
        self._silent = False
        self._from = self._default
        self._targets: np.ndarray | None = None
        self._measured: np.ndarray | None = None
        self._reset_model_state()

    def start_episode(self) -> None:
        """Start over with the velocity that holds: the robot was reset."""
        command, held = self._command, self._commanded_ns
        self.reset()
        self._command, self._commanded_ns = command, None if held is None else -1

    @property
    def targets(self) -> np.ndarray | None:
        """Return the last setpoints of the joints, (m,), None before the first."""
        return self._targets

    def command(self, velocity: np.ndarray) -> None:
        """
        Set the commanded velocity, (3,): m/s, m/s, rad/s; its age counts from the last reading.

        :raises ValueError: when a number is not finite; the previous command stays.
        """
        if not np.isfinite(velocity).all():
            raise ValueError(f'cmd_vel must be finite, not {velocity.tolist()}')
        self._command = np.clip(velocity, self._limits[:, 0], self._limits[:, 1])
        self._commanded_ns = -1 if self._now_ns is None else self._now_ns

    def step(self, reading: Reading) -> np.ndarray | None:
        """
        Process a reading; return the setpoints of the joints (m,), None when no step is due.

        When time jumps back, the controller starts over and keeps the current command.
        """
        now = reading.stamp_ns
        if self._now_ns is not None and now < self._now_ns:
            self.start_episode()
        gap = 0 if self._now_ns is None else now - self._now_ns
        self._now_ns = now
        self._measured = reading.driven
        if self._commanded_ns == -1:  # received before the first reading
            self._commanded_ns = now
        silent = self._silent or gap > self._description.observation_timeout * NANOSECONDS
        self._silent = False
        if silent and self._has_started:
            self._enter(PolicyPhase.STARTING, now, reading.driven)
        if self.phase is PolicyPhase.WAITING:
            self._enter(PolicyPhase.STARTING, now, reading.driven)
            self._due_ns = now
        if now < self._due_ns - _EARLY * self._period_ns:
            return None
        behind = (now - self._due_ns) // self._period_ns
        self.skipped += max(0, behind)
        self._due_ns += (max(0, behind) + 1) * self._period_ns
        self._select_phase(reading)
        self._targets = self._move(reading)
        return self._targets

    def stale(self, seconds: float) -> np.ndarray | None:
        """
        Return the setpoints while no sensor messages arrive, None before the first setpoints.

        :param seconds: time since the last reading.
        """
        if self._targets is None or self._measured is None or self.phase is PolicyPhase.FAILED:
            return None
        wanted = PolicyPhase.LIMP if self._description.on_stale == LIMP else PolicyPhase.HOLDING
        why = f'no sensor messages for {self._description.observation_timeout:g} s'
        if self.why != why:
            self.phase, self.why, self._from = wanted, why, self._targets
        self._silent = True
        if wanted is PolicyPhase.LIMP:
            return self._measured
        seconds -= self._description.observation_timeout
        self._targets = self._transition(seconds, self._description.hold_time)
        return self._targets

    @property
    def _has_started(self) -> bool:
        return self.phase not in (PolicyPhase.WAITING, PolicyPhase.FAILED)

    def _reset_model_state(self) -> None:
        self._action = np.zeros(len(self._description.joints))
        self._observer.reset()

    def _enter(self, phase: PolicyPhase, now: int, start: np.ndarray, why: str = '') -> None:
        if phase is PolicyPhase.RUNNING:
            self._reset_model_state()
        self.phase, self.why = phase, why
        self._since_ns, self._from = now, start

    def _select_phase(self, reading: Reading) -> None:
        """Select the phase for a reading."""
        if self.phase is PolicyPhase.FAILED:
            return
        limit, now = self._description.tilt_limit, reading.stamp_ns
        if limit is not None and -reading.gravity[2] < math.cos(limit):
            self._enter(
                PolicyPhase.LIMP, now, reading.driven, f'tilted by more than {limit:g} rad'
            )
            return
        wanted, why = self._phase_of_command(now)
        if self.phase is PolicyPhase.STARTING:
            if now - self._since_ns < self._description.start_time * NANOSECONDS:
                return
        elif self.phase is PolicyPhase.LIMP and wanted is not PolicyPhase.LIMP:
            # The joints have sunk: return slowly.
            self._enter(PolicyPhase.STARTING, now, reading.driven)
            return
        if wanted is not self.phase:
            start = reading.driven if self._targets is None else self._targets
            self._enter(wanted, now, start, why)
        self.why = why

    def _phase_of_command(self, now: int) -> tuple[PolicyPhase, str]:
        """Return the phase that the command requires, and the reason unless it is to run."""
        settings, since = self._description.command, self._commanded_ns
        if since is not None and (
            not settings.timeout or now - since <= settings.timeout * NANOSECONDS
        ):
            return PolicyPhase.RUNNING, ''
        self._command = np.zeros(3)
        if settings.on_timeout == ZERO:
            return PolicyPhase.RUNNING, ''
        why = 'no cmd_vel yet' if since is None else f'no cmd_vel for {settings.timeout:g} s'
        return (PolicyPhase.HOLDING if settings.on_timeout == HOLD else PolicyPhase.LIMP), why

    def _move(self, reading: Reading) -> np.ndarray:
        if self.phase is PolicyPhase.RUNNING:
            return self._infer(reading)
        if self.phase is PolicyPhase.LIMP:
            return reading.driven.copy()
        duration = self._durations.get(self.phase, self._description.hold_time)
        return self._transition((reading.stamp_ns - self._since_ns) / NANOSECONDS, duration)

    def _transition(self, seconds: float, duration: float) -> np.ndarray:
        """Return a point of the transition to the default pose, which starts and ends at rest."""
        share = min(max(seconds / duration, 0.0), 1.0) if duration else 1.0
        share *= share * (3.0 - 2.0 * share)
        return self._from + share * (self._default - self._from)

    def _fail(self, now: int, why: str) -> np.ndarray:
        """Move to the default pose, for good; return the targets of now."""
        start = self._default if self._targets is None else self._targets
        self._enter(PolicyPhase.FAILED, now, start, why)
        return start

    def _infer(self, reading: Reading) -> np.ndarray:
        begun = self._clock()
        # By the stamps, so that a gait keeps its phase when steps are skipped.
        seconds = (reading.stamp_ns - self._since_ns) / NANOSECONDS
        inputs = PolicyInputs(
            reading, self._command, self._default_observed, self._action, seconds
        )
        try:
            action = self._model.act(self._observer.observe(inputs))
        except PolicyError as error:
            return self._fail(reading.stamp_ns, str(error))
        self.steps += 1
        self.last_seconds = self._clock() - begun
        if self.last_seconds > self._period_ns / NANOSECONDS:
            self.late, self.late_seconds = self.late + 1, self.last_seconds
        if not np.isfinite(action).all():
            return self._fail(reading.stamp_ns, 'the output of the model is not finite')
        clip = self._description.action.clip
        self._action = action if clip is None else np.clip(action, *clip)
        return self._offset + self._scale * self._action


__all__ = ['PolicyController', 'PolicyPhase']
