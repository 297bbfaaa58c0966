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
from urlab_ros_bridge.gateways.virtual_field.steering.base_drive import read_sticks
from urlab_ros_bridge.gateways.virtual_field.steering.base_drive import STOPPED
from urlab_ros_bridge.gateways.virtual_field.steering.hand import Hand
from urlab_ros_bridge.gateways.virtual_field.steering.tip_control import TipControl

# Without a message of its user for so long, nothing is steered any more (s); the original's.
SILENCE = 5.0
# A target is that of a moment later: half a period, and what a request takes (s).
LEAD = 0.012

# The longest time that one call makes good when it comes late (s).
MOST_LATE = 0.1

# That wait to be taken; beyond that the oldest are forgotten.
MAX_SAMPLES = 63

# Actuator -> control.
Controls = dict[str, float]


class _Led:
    """One hand on one arm."""

    def __init__(self, control: TipControl) -> None:
        self.control = control
        self.hand = Hand()
        self.goes_to_rest = False
        self.recall_was_pressed = False
        self.is_led = False
        self.led_at = 0.0


class Operator:
    """
    Turns the samples of one user into setpoints.

    `hear` and `greet` may be called by any thread, the rest by that of the steering.

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
        Begin with nothing commanded.

        :param controls: of the arm of the left hand and of that of the right hand; a single one
            follows the hand that grips it.
        """
        arms = [_Led(control) for control in controls[: len(HANDS)]]
        self._led: Mapping[str, _Led] = dict(zip(HANDS, arms * (3 - len(arms)), strict=False))
        self.base = base
        self._drive = drive
        self._lock = threading.Lock()
        self._new: list[tuple[XrInput, float]] = []
        self._heard_at = now
        self._sample: XrInput | None = None
        self._holder: dict[int, str] = {}  # of an arm that two hands could grip

    def hear(self, sample: XrInput, now: float) -> None:
        """Take a sample."""
        with self._lock:
            self._new = [*self._new[-MAX_SAMPLES:], (sample, now)]
            self._heard_at = now

    def greet(self, now: float) -> None:
        """Note that the user is there."""
        with self._lock:
            self._heard_at = now

    def act(self, qpos: np.ndarray, now: float, period: float) -> dict[str, Controls]:
        """
        Return the setpoints of now: prefix -> actuator -> control; empty when nothing changes.

        :param qpos: of the whole model.
        """
        with self._lock:
            new, self._new = self._new, []
            is_silent = now - self._heard_at > SILENCE
        found: dict[str, Controls] = {}
        if is_silent:
            self._sample, new = None, []
            for led in self._led.values():
                led.hand.let_go()
                led.goes_to_rest = False
        for sample, at in new:
            self._apply_sample(sample, at, qpos, found)
        done = set()
        for led in self._led.values():
            if id(led) in done:
                continue
            done.add(id(led))
            ctrl = self._lead(led, qpos, now, period)
            if ctrl:
                found.setdefault(led.control.prefix, {}).update(ctrl)
        return found

    def twist(self) -> Twist:
        """Return the velocity that the base should have."""
        if self._sample is None or self._drive is None:
            return STOPPED
        return read_sticks(self._sample, self._drive)

    def _apply_sample(
        self, sample: XrInput, at: float, qpos: np.ndarray, found: dict[str, Controls]
    ) -> None:
        self._sample = sample
        for side, led in self._led.items():
            controller = sample.controllers.get(side)
            if controller is None:
                if self._holder.get(id(led), side) == side:
                    led.hand.let_go()
                continue
            if self._holder.get(id(led), side) != side:
                continue  # the other hand has this arm
            recalls = controller.pressed('secondary')
            if recalls and not led.recall_was_pressed:
                led.goes_to_rest = True
                led.hand.let_go()
            led.recall_was_pressed = recalls
            if led.goes_to_rest:
                continue
            held = led.hand.holds
            tip = led.control.tip(qpos) if held else led.control.begin(qpos)
            led.hand.move(controller, tip, at)
            if led.hand.holds:
                self._holder[id(led)] = side
                grip = led.control.grip(controller.trigger)
                if grip:
                    found.setdefault(led.control.prefix, {}).update(grip)
            else:
                self._holder.pop(id(led), None)

    def _lead(self, led: _Led, qpos: np.ndarray, now: float, period: float) -> Controls:
        """Return the setpoints of one arm; the last ones stop it where it was led to."""
        elapsed = now - led.led_at
        led.led_at = now
        if led.goes_to_rest:
            ctrl, arrived = led.control.go_to_rest(period)
            led.goes_to_rest = not arrived
            return ctrl
        target = led.hand.target(now + LEAD)
        was_led, led.is_led = led.is_led, target is not None
        if target is None:
            return led.control.settle() if was_led else {}
        # A call that comes late has to make a larger step, which is no faster for that.
        late = min(max(elapsed, period), MOST_LATE) if was_led else period
        return led.control.lead(qpos, target, late)


__all__ = ['LEAD', 'SILENCE', 'Operator']
