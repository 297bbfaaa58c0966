# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The task of the policy: instruction, reward, success, time limit."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
import threading
from typing import Any

import msgpack
import numpy as np

from urlab_ros_bridge.client.replies.observations import StepResult
from urlab_ros_bridge.client.session import plain
from urlab_ros_bridge.gateways.chiral.callables import load_callable
from urlab_ros_bridge.gateways.chiral.errors import profile_key
from urlab_ros_bridge.gateways.chiral.profile.profile import TaskProfile
from urlab_ros_bridge.gateways.errors import RobotError
from urlab_ros_bridge.gateways.simulation.scene import MirroredScene


@dataclass(frozen=True, slots=True)
class TaskView:
    """
    The argument of a hook.

    :ivar state: the server's reply: articulations and entities with positions and velocities.
    :ivar scene: poses of bodies and sites by compiled name.
    :ivar time: simulated seconds since the episode began.
    """

    state: StepResult
    scene: MirroredScene
    episode: int
    time: float

    def position(self, body: str) -> np.ndarray:
        """Return the world position of a body by its compiled name, shape (3,), m."""
        return self.scene.pose('body', body)[0]


class Task:
    """
    Evaluates observations of the driver and of viewers; hook calls never overlap.

    A hook is called with a `TaskView` and returns a reward, or a map with any of ``reward``,
    ``success``, ``terminated`` and other fields for `extra`.
    """

    def __init__(self, profile: TaskProfile) -> None:
        """
        Import the hook.

        :raises ProfileError: when there is none of that name.
        """
        self.instruction = profile.instruction
        self._limit = profile.time_limit
        with profile_key('task.hook'):
            self._hook = load_callable(profile.hook) if profile.hook else None
        self._calling = threading.Lock()

    def judge(self, view: TaskView) -> dict[str, Any]:
        """
        Return reward, success, terminated, truncated, diverged and the hook's own fields.

        When the simulation became unstable the episode has failed, and the hook is not called.

        :raises RobotError: when the hook failed.
        """
        diverged = view.state.divergence is not None
        result: dict[str, Any] = {'reward': 0.0, 'success': False, 'terminated': diverged}
        if self._hook is not None and not diverged:
            result |= self._call_hook(self._hook, view)
        result['truncated'] = bool(self._limit) and view.time >= self._limit and not diverged
        result['diverged'] = diverged
        return result

    def _call_hook(self, hook: Callable[[TaskView], Any], view: TaskView) -> dict[str, Any]:
        try:
            with self._calling:
                returned = hook(view)
        except Exception as error:
            raise RobotError(f'the task hook failed: {type(error).__name__}: {error}') from error
        if isinstance(returned, Mapping):
            result = _sendable(plain(dict(returned)))
            result['reward'] = float(result.get('reward', 0.0))
            result['success'] = bool(result.get('success', False))
            result['terminated'] = bool(result.get('terminated', result['success']))
            return result
        try:
            return {'reward': float(returned)}
        except (TypeError, ValueError):
            raise RobotError(
                f'the task hook returned {returned!r:.60}, neither a number nor a map'
            ) from None


def _sendable(result: dict[str, Any]) -> dict[str, Any]:
    """Return the result if stock clients can read it: msgpack with strings as keys."""
    try:
        msgpack.unpackb(msgpack.packb(result), raw=False, strict_map_key=True)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise RobotError(f'the task hook returned a value that cannot be sent: {error}') from error
    return result
