# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What tests ask of motion: step until something is so, and whether something has moved."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import math
import time
from typing import Any

import numpy as np

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.client.replies.observations import StepResult
from urlab_ros_bridge.testing.errors import DidNotMove
from urlab_ros_bridge.testing.errors import NotInTime

# How long anything is waited for at most (s of wall time): machines stall.
WALL_SECONDS = 60.0
# In live mode time goes by itself: how often it is looked at (s of wall time).
_POLL_SECONDS = 0.01


def step_until(
    client: Client,
    condition: Callable[[StepResult], object],
    timeout: float,
    *,
    n_steps: int = 1,
    wall_timeout: float = WALL_SECONDS,
    **step: Any,
) -> StepResult:
    """
    Step until a condition is true of the state, and return that state.

    In live mode, where time goes by itself, the state is looked at again and again.

    :param timeout: s of simulation time.
    :param n_steps: physics steps between two looks (direct mode).
    :param wall_timeout: s of wall time.
    :param step: more for `Client.step`: ctrl, observations ...
    :raises NotInTime: when it does not become true.
    """
    begun, wall = None, time.monotonic() + wall_timeout
    while True:
        state = client.step(n_steps, **step)
        if condition(state):
            return state
        if begun is None or state.time < begun:  # the first one, or a reset
            begun = last = state.time
        if state.time - begun >= timeout:
            raise NotInTime(
                f'not true within {timeout:g} s of simulation time, at {state.time:g} s: '
                f'{_described(condition)}'
            )
        if time.monotonic() > wall:
            raise NotInTime(
                f'not true within {wall_timeout:g} s of wall time; of {timeout:g} s of '
                f'simulation time only {state.time - begun:g} s have passed: '
                f'{_described(condition)}'
            )
        if state.time - last < n_steps * 1e-9:
            time.sleep(_POLL_SECONDS)
        last = state.time


def assert_moved(
    start: Any,
    end: Any,
    at_least: float,
    at_most: float = math.inf,
    along: Sequence[float] | None = None,
) -> float:
    """
    Demand that something has moved, and return how far (m).

    :param start, end: x, y, z (m), or anything with a position: a Pose, PoseStamped, Odometry,
        a body or an entity of the client.
    :param at_least, at_most: how far (m).
    :param along: x, y, z; only motion in this direction counts, and backward counts negative.
        Its length does not matter.
    :raises DidNotMove: when it has not.
    """
    begin, finish = position_of(start), position_of(end)
    way = finish - begin
    if along is None:
        moved = float(np.linalg.norm(way))
    else:
        direction = np.asarray(along, float)
        length = float(np.linalg.norm(direction))
        if direction.shape != (3,) or not math.isfinite(length) or length == 0.0:
            raise ValueError(f'along: {along!r} is not a direction x, y, z')
        moved = float(way @ direction) / length
    if not at_least <= moved <= at_most:
        wanted = f'at least {at_least:g} m'
        if math.isfinite(at_most):
            wanted += f' and at most {at_most:g} m'
        where = '' if along is None else f' along {tuple(map(float, along))}'
        raise DidNotMove(
            f'moved {moved:.4g} m{where}, not {wanted}: from {_shown(begin)} to {_shown(finish)}'
        )
    return moved


def position_of(place: Any) -> np.ndarray:
    """
    Return x, y, z (m), shape (3,).

    :raises TypeError: for something without a position.
    """
    if isinstance(place, np.ndarray | list | tuple):
        values = np.asarray(place, float)
        if values.shape != (3,):
            raise TypeError(f'{place!r} is not a position x, y, z')
        return values
    for name in ('pos', 'xpos', 'pose', 'position'):
        if hasattr(place, name):
            return position_of(getattr(place, name))
    if all(hasattr(place, axis) for axis in 'xyz'):
        return np.array([place.x, place.y, place.z], float)
    raise TypeError(f'{type(place).__name__} has no position: give x, y, z or a pose')


def _shown(place: np.ndarray) -> str:
    return '(' + ', '.join(f'{value:.4g}' for value in place) + ')'


def _described(condition: Callable[..., object]) -> str:
    code = getattr(condition, '__code__', None)
    name = getattr(condition, '__qualname__', repr(condition))
    return f'{name} ({code.co_filename}:{code.co_firstlineno})' if code else name


__all__ = ['WALL_SECONDS', 'assert_moved', 'position_of', 'step_until']
