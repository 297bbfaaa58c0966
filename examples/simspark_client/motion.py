# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Motions of a Nao-like player: a sequence of poses, and the speeds to get through it."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import math

from simspark_client.clients import CYCLE
from simspark_client.clients import perceptor_of
from simspark_client.percepts import Percepts

# Effector -> degrees.
Pose = Mapping[str, float]

# Gain of the position error, 1/s.
_GAIN = 3.0
_MAX_SPEED = 6.1

# Knees bent, arms down, eyes on a ball at the feet.
STANCE: Pose = {
    'he1': 0.0, 'he2': -20.0,
    'lae1': -90.0, 'rae1': -90.0, 'lae2': 8.0, 'rae2': -8.0, 'lae4': -40.0, 'rae4': 40.0,
    'lle2': 0.0, 'lle3': 25.0, 'lle4': -50.0, 'lle5': 25.0, 'lle6': 0.0,
    'rle2': 0.0, 'rle3': 25.0, 'rle4': -50.0, 'rle5': 25.0, 'rle6': 0.0,
}  # fmt: skip

# The weight is over the right foot.
_LEAN = 21.0
_ON_THE_RIGHT: Pose = {
    **STANCE, 'lle2': _LEAN, 'rle2': _LEAN, 'lle6': -_LEAN, 'rle6': -_LEAN,
}  # fmt: skip
_BACK: Pose = {**_ON_THE_RIGHT, 'lle3': 20.0, 'lle4': -90.0, 'lle5': 50.0}
_FORTH: Pose = {**_ON_THE_RIGHT, 'lle3': 60.0, 'lle4': -30.0, 'lle5': -10.0}
_UNDER: Pose = {**_ON_THE_RIGHT, 'lle3': 32.0, 'lle4': -64.0, 'lle5': 32.0}

# From the stance: kicks a ball that lies 0.19 m before the middle of the left foot, 6 to 7 m far.
LEFT_KICK: Sequence[tuple[float, Pose]] = (
    (1.2, _ON_THE_RIGHT), (0.6, _BACK), (0.3, _BACK), (0.12, _FORTH), (0.3, _FORTH),
    (0.8, _UNDER), (0.8, _ON_THE_RIGHT), (1.2, STANCE), (0.5, STANCE),
)  # fmt: skip


class Motion:
    """
    Moves from the current pose through a sequence of poses, all joints in step.

    :param poses: (seconds from the pose before, pose), one after the other.
    """

    def __init__(self, percepts: Percepts, poses: Sequence[tuple[float, Pose]]) -> None:
        names = {name for _, pose in poses for name in pose}
        start = {name: percepts.joints[perceptor_of(name)] for name in names}
        self._legs: list[tuple[float, float, dict[str, float], dict[str, float]]] = []
        began, here = 0.0, start
        for seconds, pose in poses:
            there = here | dict(pose)
            self._legs.append((began, began + seconds, here, there))
            began, here = began + seconds, there
        self._start, self._end, self._seconds = start, here, began
        self._time = 0.0

    @property
    def is_over(self) -> bool:
        """Return whether the last pose has been reached."""
        return self._time >= self._seconds

    def speeds(self, percepts: Percepts) -> dict[str, float]:
        """Return the speeds of the next cycle, rad/s; after the end they hold the last pose."""
        now, soon = self._at(self._time), self._at(self._time + CYCLE)
        self._time += CYCLE
        speeds = {}
        for name, angle in now.items():
            error = angle - percepts.joints[perceptor_of(name)]
            speed = math.radians((soon[name] - angle) / CYCLE + _GAIN * error)
            speeds[name] = min(max(speed, -_MAX_SPEED), _MAX_SPEED)
        return speeds

    def _at(self, time: float) -> dict[str, float]:
        for began, ends, here, there in self._legs:
            if time < ends:
                share = (time - began) / (ends - began)
                return {name: here[name] + share * (there[name] - here[name]) for name in there}
        return self._end


__all__ = ['LEFT_KICK', 'STANCE', 'Motion', 'Pose']
