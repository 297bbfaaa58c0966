# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""One operator: hands, arms and a base."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import threading

import numpy as np

from urlab_ros_bridge.client.replies.handshake import TwistControllerInfo
from urlab_ros_bridge.gateways.motion.target import Twist
from urlab_ros_bridge.gateways.virtual_field.protocol.xr_input import HANDS
from urlab_ros_bridge.gateways.virtual_field.protocol.xr_input import XrInput
from urlab_ros_bridge.gateways.virtual_field.steering.hand import Hand
from urlab_ros_bridge.gateways.virtual_field.steering.tip_control import TipControl

# An operator that sends nothing for this long stops steering (s), as in the original server.
SILENCE = 5.0
# Targets are extrapolated by half a period and the duration of a request (s).
LEAD = 0.012

# Longest delay of a call that is compensated (s).
MAX_DELAY = 0.1

# Limit of queued samples; beyond it the oldest are dropped.
MAX_SAMPLES = 63

DEADBAND = 0.1
# Where the server reports no limits (m/s, rad/s).
_CAREFUL_LINEAR, _CAREFUL_ANGULAR = 0.5, 1.0
STOPPED: Twist = (0.0, 0.0, 0.0)

# Actuator -> control.
Controls = dict[str, float]


class _SteeredArm:
    """An arm and the hand that moves it."""

    def __init__(self, control: TipControl) -> None:
        self.control = control
        self.hand = Hand()
        self.goes_to_rest = False
        self.recall_was_pressed = False
        self.is_steered = False
        self.steered_at = 0.0


class Operator:
    """
    Turns the samples of one user into setpoints.

    `add_sample` and `note_heartbeat` are for any thread, the rest for that of the steering.

    :ivar base: prefix of the robot that the sticks drive, empty for none.
    """

    def __init__(
        self,
        controls: Sequence[TipControl],
        base: str,
        drive: TwistControllerInfo | None,
        now: float,
    ) -> None:
        """
        Start with nothing commanded.

        :param controls: of the arm of the left hand and of that of the right hand; a single one
            follows the hand that grips it.
        """
        arms = [_SteeredArm(control) for control in controls[: len(HANDS)]]
        self._arms: Mapping[str, _SteeredArm] = dict(
            zip(HANDS, arms * (3 - len(arms)), strict=False)
        )
        self.base = base
        self._drive = drive
        self._lock = threading.Lock()
        self._new: list[tuple[XrInput, float]] = []
        self._last_message_at = now
        self._sample: XrInput | None = None
        self._holder: dict[int, str] = {}  # of an arm that either hand can grip

    def add_sample(self, sample: XrInput, now: float) -> None:
        """Add a sample."""
        with self._lock:
            self._new = [*self._new[-MAX_SAMPLES:], (sample, now)]
            self._last_message_at = now

    def note_heartbeat(self, now: float) -> None:
        """Record that the user is connected."""
        with self._lock:
            self._last_message_at = now

    def act(self, qpos: np.ndarray, now: float, period: float) -> dict[str, Controls]:
        """
        Return the setpoints of now: prefix -> actuator -> control; empty when nothing changes.

        :param qpos: of the whole model.
        """
        with self._lock:
            new, self._new = self._new, []
            is_silent = now - self._last_message_at > SILENCE
        found: dict[str, Controls] = {}
        if is_silent:
            self._sample, new = None, []
            for arm in self._arms.values():
                arm.hand.release()
                arm.goes_to_rest = False
        for sample, at in new:
            self._apply_sample(sample, at, qpos, found)
        done = set()
        for arm in self._arms.values():
            if id(arm) in done:
                continue
            done.add(id(arm))
            ctrl = self._setpoints(arm, qpos, now, period)
            if ctrl:
                found.setdefault(arm.control.prefix, {}).update(ctrl)
        return found

    def twist(self) -> Twist:
        """Return the commanded velocity of the base."""
        if self._sample is None or self._drive is None:
            return STOPPED
        return read_sticks(self._sample, self._drive)

    def _apply_sample(
        self, sample: XrInput, at: float, qpos: np.ndarray, found: dict[str, Controls]
    ) -> None:
        self._sample = sample
        for side, arm in self._arms.items():
            controller = sample.controllers.get(side)
            if controller is None:
                if self._holder.get(id(arm), side) == side:
                    arm.hand.release()
                continue
            if self._holder.get(id(arm), side) != side:
                continue  # the other hand has this arm
            recalls = controller.pressed('secondary')
            if recalls and not arm.recall_was_pressed:
                arm.goes_to_rest = True
                arm.hand.release()
            arm.recall_was_pressed = recalls
            if arm.goes_to_rest:
                continue
            held = arm.hand.is_gripping
            tip = arm.control.tip(qpos) if held else arm.control.begin(qpos)
            arm.hand.move(controller, tip, at)
            if arm.hand.is_gripping:
                self._holder[id(arm)] = side
                grip = arm.control.grip(controller.trigger)
                if grip:
                    found.setdefault(arm.control.prefix, {}).update(grip)
            else:
                self._holder.pop(id(arm), None)

    def _setpoints(
        self, arm: _SteeredArm, qpos: np.ndarray, now: float, period: float
    ) -> Controls:
        """Return the setpoints of one arm; after the last target they stop it there."""
        elapsed = now - arm.steered_at
        arm.steered_at = now
        if arm.goes_to_rest:
            ctrl, arrived = arm.control.go_to_rest(period)
            arm.goes_to_rest = not arrived
            return ctrl
        target = arm.hand.target(now + LEAD)
        was_steered, arm.is_steered = arm.is_steered, target is not None
        if target is None:
            return arm.control.settle() if was_steered else {}
        # A late call covers a longer time, so its step may be larger.
        late = min(max(elapsed, period), MAX_DELAY) if was_steered else period
        return arm.control.lead(qpos, target, late)


def read_sticks(sample: XrInput, drive: TwistControllerInfo) -> Twist:
    """
    Return the velocity commanded by the sticks, in the frame of the base: m/s and rad/s.

    The left stick goes forward and sideways, the right one turns; a base that cannot go sideways
    turns with the left one too.  Sticks have y towards the user, so forward is negative.
    """
    left, right = (
        sample.controllers[hand].joystick if hand in sample.controllers else (0.0, 0.0)
        for hand in ('left', 'right')
    )
    linear = drive.limits.get('linear', _CAREFUL_LINEAR)
    lateral = drive.limits.get('lateral', 0.0)
    angular = drive.limits.get('angular', _CAREFUL_ANGULAR)
    forward = -beyond_deadband(left[1]) * linear
    turn = -beyond_deadband(right[0])
    if lateral > 0.0:
        return forward, -beyond_deadband(left[0]) * lateral, turn * angular
    turn = max(-1.0, min(1.0, turn - beyond_deadband(left[0])))
    return forward, 0.0, turn * angular


def beyond_deadband(value: float) -> float:
    """
    Return the deflection of a stick, continuous at the edge of the deadband.

    >>> beyond_deadband(0.05), beyond_deadband(-1.0)
    (0.0, -1.0)
    """
    beyond = max(0.0, abs(value) - DEADBAND) / (1.0 - DEADBAND)
    return beyond if value > 0 else -beyond or 0.0


__all__ = ['LEAD', 'SILENCE', 'STOPPED', 'Operator', 'beyond_deadband', 'read_sticks']
