# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""One robot of a simulation as a Gymnasium environment."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
import os
import time
from typing import Any
from typing import TypeAlias

import gymnasium
from gymnasium import spaces
import numpy as np

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.client.model import read_robot
from urlab_ros_bridge.client.replies.observations import ArticulationState
from urlab_ros_bridge.client.replies.observations import CameraImage
from urlab_ros_bridge.client.replies.observations import StepResult
from urlab_ros_bridge.testing.simulation import Simulation
from urlab_ros_bridge.wire.errors import UnknownName
from urlab_ros_bridge.wire.errors import UrlabError

ACTIONS = ('auto', 'actuators', 'twist')
RENDER_FPS = 50
_MAX_SEED = 2**31 - 1
# A renderer starts in a second; a busy machine takes its time.
_RENDERER_SECONDS = 60.0


class BadEnvironment(UrlabError, ValueError):
    """An environment cannot be made so."""


@dataclass(frozen=True, slots=True)
class Transition:
    """
    What the hooks get: one control period.

    :ivar before, after: state of the robot; `result` is the whole reply, with all others.
    :ivar action: what was done, in SI units.
    :ivar time: simulated s since the reset; `dt` of this period.
    """

    before: ArticulationState
    after: ArticulationState
    result: StepResult
    action: np.ndarray
    time: float
    dt: float


Reward: TypeAlias = Callable[[Transition], float]
Ending: TypeAlias = Callable[[Transition], bool]
Observe: TypeAlias = Callable[[ArticulationState], np.ndarray]


def observe_all(state: ArticulationState) -> np.ndarray:
    """Return qpos, qvel and all sensors by name as one vector of float64, in SI units."""
    sensors = [state.sensors[name] for name in sorted(state.sensors)]
    return np.concatenate([state.qpos, state.qvel, *sensors], dtype=np.float64)


class UrlabEnv(gymnasium.Env[np.ndarray, np.ndarray]):
    """
    A server of its own without an image on a screen, in lockstep with `step`.

    The observation is a vector (`observe`), the action either one setpoint for each actuator or a
    twist: those of vx, vy (m/s) and yaw rate (rad/s) that the robot can.  Reward and ending are
    yours; without them the reward is 0 and nothing terminates.  To truncate there is
    `gymnasium.make(..., max_episode_steps=N)`.

    Equal seeds and actions give equal observations, bit for bit.
    """

    metadata = {'render_modes': ['rgb_array'], 'render_fps': RENDER_FPS}  # noqa: RUF012

    def __init__(
        self,
        world: str | os.PathLike[str] = 'rover',
        *,
        robot: str = '',
        action: str = 'auto',
        period: float = 0.02,
        reward: Reward | None = None,
        terminated: Ending | None = None,
        observe: Observe = observe_all,
        normalized: bool = True,
        sidecar: Mapping[str, Any] | None = None,
        keyframe: str = '',
        camera: str = '',
        render_mode: str | None = None,
    ) -> None:
        """
        Start the server.

        :param world: bundled world, or an MJCF file or sidecar of yours.
        :param robot: prefix; empty: the only one, or the first.
        :param action: ``actuators``, ``twist``, or ``auto``: a twist where the robot has a drive.
        :param period: s of simulation time of a step; a multiple of the timestep.
        :param observe: makes the observation of the robot's state.
        :param normalized: actions are from -1 to 1 of the robot's range; else in SI units.
        :param sidecar: keys of a sidecar in place of a file.
        :param keyframe: where episodes begin; empty: as the world does.
        :param camera: that `render` shows; empty: the first.
        :raises BadEnvironment: for values that do not fit the world.
        """
        if action not in ACTIONS:
            raise UnknownName('action', action, ACTIONS)
        if render_mode not in (None, *self.metadata['render_modes']):
            raise UnknownName('render_mode', render_mode, self.metadata['render_modes'])
        self.render_mode = render_mode
        self._hooks = (reward, terminated)
        self.action_space: spaces.Box
        self._observe = observe
        self._keyframe = keyframe
        self._simulation: Simulation | None = Simulation(
            world, sidecar=sidecar, bridge=None, mode='direct', cameras=render_mode is not None
        )
        try:
            self.client = self._simulation.client
            self.client.raise_on_divergence = False  # `step` truncates instead
            self.robot = _robot_of(self.client, robot)
            self._steps = _steps_of(self.client, period)
            self._twist = _is_twist(self.client, self.robot, action)
            self._camera = _camera_of(self.client, self.robot, camera) if render_mode else ''
            self._cameras = {self._camera: 'sync'} if render_mode else None
            self._make_action_space(normalized)
            self._state = self.client.reset(keyframe or None, seed=0)
            self.begun = self._seen(self._state)
            self.observation_space = spaces.Box(-np.inf, np.inf, self.begun.shape, np.float64)
        except BaseException:
            self.close()
            raise
        self._begun = self._state.time
        self._picture: Mapping[str, CameraImage] = {}

    def _make_action_space(self, normalized: bool) -> None:
        """Set the space of actions, and how SI units are made of one."""
        limits = _twist_limits(self.client, self.robot)
        self._slots = [slot for slot, limit in enumerate(limits) if limit > 0]
        if self._twist:
            high = np.array(limits)[self._slots]
            units: spaces.Box = spaces.Box(-high, high, dtype=np.float64)
        else:
            units = _actuator_space(self.client, self.robot)
        self._middle = (units.low + units.high) / 2 if normalized else np.zeros(units.shape)
        self._half = (units.high - units.low) / 2 if normalized else np.ones(units.shape)
        if normalized:
            self.action_space = spaces.Box(-1.0, 1.0, units.shape, np.float64)
        else:
            self.action_space = units

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """
        Begin an episode.

        :param options: ``keyframe``: another one; ``qpos``: joint -> first value.
        """
        super().reset(seed=seed)
        options = options or {}
        unknown = [*(options.keys() - {'keyframe', 'qpos'})]
        if unknown:
            raise UnknownName('option', unknown[0], ('keyframe', 'qpos'))
        joints = {self.robot: options['qpos']} if 'qpos' in options else None
        self._state = self.client.reset(
            options.get('keyframe', self._keyframe) or None,
            seed=int(self.np_random.integers(_MAX_SEED)),
            per_articulation_qpos=joints,
        )
        self._begun = self._state.time
        self._picture = {}
        return self._seen(self._state), self._info()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """
        Do an action for one period.

        When the simulation becomes unstable the episode is truncated, with ``info['diverged']``:
        the observation is the last one before, and the reward is 0 without asking the hooks.
        For other limits use `TimeLimit`.
        """
        done = np.asarray(action, np.float64)
        if done.shape != self.action_space.shape or not np.isfinite(done).all():
            raise BadEnvironment(
                f'action: {action!r:.80} is not {self.action_space.shape} finite numbers'
            )
        done = self._middle + self._half * done
        before, values = self._state, done.tolist()
        if self._twist:
            given = dict(zip(self._slots, values, strict=True))
            vx, vy, yaw_rate = (given.get(slot, 0.0) for slot in range(3))
            twist = {'linear': [vx, vy, 0.0], 'angular': [0.0, 0.0, yaw_rate]}
            self._state = self.client.step(
                self._steps, twists={self.robot: twist}, include_cameras=self._cameras
            )
        else:
            self._state = self.client.step(
                self._steps, ctrl={self.robot: done}, include_cameras=self._cameras
            )
        self._picture = self._state.cameras
        if self._state.divergence is not None:
            return self._seen(before), 0.0, False, True, self._info()
        transition = Transition(
            before.articulations[self.robot],
            self._state.articulations[self.robot],
            self._state,
            done,
            self._state.time - self._begun,
            self._state.time - before.time,
        )
        reward, terminated = self._hooks
        return (
            self._seen(self._state),
            float(reward(transition)) if reward else 0.0,
            bool(terminated(transition)) if terminated else False,
            False,
            self._info(),
        )

    def render(self) -> np.ndarray | None:  # type: ignore[override]
        """Return the camera's image of the present state, RGB, shape (height, width, 3)."""
        if self.render_mode is None:
            return None
        if self._camera not in self._picture:
            self._picture = self._drawn()
        return self._picture[self._camera].pixels[:, :, 2::-1].copy()

    def _drawn(self) -> Mapping[str, CameraImage]:
        """Return images of the present state, which a reply to reset has not; no time passes."""
        deadline = time.monotonic() + _RENDERER_SECONDS
        self.client.set_mode('puppet')
        try:
            while True:  # the renderer may still be starting
                found = self.client.step(include_cameras=self._cameras).cameras
                if self._camera in found:
                    return found
                if time.monotonic() > deadline:
                    raise BadEnvironment(f'render: no image of camera {self._camera} has arrived')
        finally:
            self.client.set_mode('direct')

    def close(self) -> None:
        """End the server."""
        if self._simulation is not None:
            self._simulation.close()
            self._simulation = None

    def _seen(self, state: StepResult) -> np.ndarray:
        return np.asarray(self._observe(state.articulations[self.robot]), np.float64)

    def _info(self) -> dict[str, Any]:
        state = self._state
        diverged = state.divergence is not None
        return {'sim_time': state.time, 'step': state.step, 'diverged': diverged}


def _robot_of(client: Client, name: str) -> str:
    robots = client.handshake.articulations
    if not robots:
        raise BadEnvironment('the world has no robot')
    if name and name not in robots:
        raise UnknownName('robot', name, robots)
    return name or next(iter(robots))


def _steps_of(client: Client, period: float) -> int:
    timestep = client.handshake.timestep or float(client.handshake.model.opt.timestep)
    count = round(period / timestep)
    if count < 1 or abs(count * timestep - period) > 1e-3 * timestep:
        raise BadEnvironment(f'period: {period:g} s is not a multiple of {timestep:g} s')
    return count


def _is_twist(client: Client, robot: str, action: str) -> bool:
    controller = client.handshake.articulations[robot].twist_controller
    drives = controller is not None and controller.kind != 'command'
    if action == 'twist' and controller is None:
        raise BadEnvironment(f'action: {robot} has no twist controller')
    return action == 'twist' or (action == 'auto' and drives)


def _camera_of(client: Client, robot: str, name: str) -> str:
    colours = {
        key: camera
        for key, camera in client.handshake.articulations[robot].cameras.items()
        if camera.mode == 'real'
    }
    colours |= {
        key: each for key, each in client.handshake.global_cameras.items() if each.mode == 'real'
    }
    if not colours:
        raise BadEnvironment(f'render_mode: neither {robot} nor the world has a colour camera')
    if name and name not in colours:
        raise UnknownName('camera', name, colours)
    return name or next(iter(colours))


def _twist_limits(client: Client, robot: str) -> list[float]:
    """Return the limits of vx, vy and yaw rate; 1 where there is none: learners explore."""
    controller = client.handshake.articulations[robot].twist_controller
    limits = controller.limits if controller is not None else {}
    return [limits.get(name, 1.0) for name in ('linear', 'lateral', 'angular')]


def _actuator_space(client: Client, robot: str) -> spaces.Box:
    ranges = [
        each.control_range for each in read_robot(client.handshake, robot).actuators.values()
    ]
    if not ranges:
        raise BadEnvironment(f'action: {robot} has no actuators')
    low, high = np.array(ranges).T
    return spaces.Box(
        np.where(np.isfinite(low), low, -1.0),
        np.where(np.isfinite(high), high, 1.0),
        dtype=np.float64,
    )


__all__ = ['BadEnvironment', 'Transition', 'UrlabEnv', 'observe_all']
