# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The gateway's side of a URLab server: one session for commands, one for observations."""

from __future__ import annotations

from collections.abc import Mapping
import logging
import math
import time
from typing import Any

import numpy as np

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.client.errors import RemoteError
from urlab_ros_bridge.client.handshake import Handshake
from urlab_ros_bridge.client.results import StepResult
from urlab_ros_bridge.client.session import SHARED_SESSION
from urlab_ros_bridge.gateways.chiral.defaults import choose_articulation
from urlab_ros_bridge.gateways.chiral.defaults import complete
from urlab_ros_bridge.gateways.chiral.errors import ProfileError
from urlab_ros_bridge.gateways.chiral.errors import RobotError
from urlab_ros_bridge.gateways.chiral.layout import ActionLayout
from urlab_ros_bridge.gateways.chiral.observer import LIVE_CAMERAS
from urlab_ros_bridge.gateways.chiral.profile import Profile
from urlab_ros_bridge.gateways.chiral.proprio import needs_forces
from urlab_ros_bridge.gateways.chiral.robot_model import RobotModel
from urlab_ros_bridge.gateways.chiral.target import Target

_LOG = logging.getLogger(__name__)

CLIENT_NAME = 'urlab_chiral'
RENDERER_SECONDS = 30.0
# A picture may take long on a busy machine without a graphics card.
TIMEOUT = 10.0


class Simulation:
    """
    One robot of a running server.

    Two connections, so that a command never waits for a picture.

    :ivar profile: completed; `robot` and `layout` are made from it and the model.
    """

    def __init__(self, profile: Profile, host: str, rpc_port: int) -> None:
        self._wanted = profile
        self.commands = Client(host, rpc_port, shared=True, name=CLIENT_NAME, timeout=TIMEOUT)
        self._looks = Client(host, rpc_port, shared=True, name=CLIENT_NAME, timeout=TIMEOUT)

    def connect(self, timeout: float = TIMEOUT) -> None:
        """
        Open both sessions and make the profile fit the robot.

        :raises RequestTimeout: when no server answers.
        :raises UrlabError: when the world has not what the profile asks for.
        """
        self.commands.timeout = timeout
        if not self.commands.supports_shared_sessions():
            self._take_the_session()
        self.handshake: Handshake = self.commands.connect(timeout)
        if self._looks is not self.commands:
            self._looks.connect(timeout)
        self.commands.timeout = TIMEOUT
        if not self.handshake.manager_present:
            raise RobotError('the server runs no world at the moment')
        self.robot = RobotModel(self.handshake, choose_articulation(self._wanted, self.handshake))
        self.profile = complete(self._wanted, self.robot)
        self.layout = ActionLayout(self.profile, self.robot)
        if self.profile.control.rate * self.timestep > 1.0:
            most = f'is more than one action a simulation step ({1 / self.timestep:g} Hz)'
            raise ProfileError('control: rate', self.profile.control.rate, most)
        self._level = 'full' if needs_forces(self.profile) else 'standard'
        self._generations = self._count_handshakes()

    def _take_the_session(self) -> None:
        """Go on with the one session that a stock server has; it has to serve for everything."""
        _LOG.warning(
            'this server knows no shared sessions: the gateway takes the session from whoever has '
            'it, and commands wait for pictures'
        )
        self._looks.close()
        self.commands.shared = False
        self._looks = self.commands

    def close(self) -> None:
        """End both sessions."""
        self.commands.close()
        self._looks.close()

    def was_restarted(self) -> bool:
        """
        Ask the server whether it still is the one of `connect`.

        :raises RequestTimeout: when it does not answer.
        """
        if SHARED_SESSION in self.handshake.extensions:
            self.commands.status()  # an unknown session says hello again
        return self.is_stale

    @property
    def is_stale(self) -> bool:
        """Return whether a new handshake has been noticed since `connect`."""
        return self._count_handshakes() != self._generations

    def _count_handshakes(self) -> tuple[int, int]:
        # Either session may be the first to notice a restart.
        return self.commands.generation, self._looks.generation

    @property
    def timestep(self) -> float:
        """Return the seconds of one simulation step."""
        return self.handshake.timestep or float(self.handshake.model.opt.timestep)

    def step(
        self, target: Target, n_steps: int = 1, cameras: Mapping[str, str] | None = None
    ) -> StepResult:
        """
        Command the set-point; in direct mode the world advances by `n_steps`.

        :raises UrlabError: when the server refuses or does not answer.
        """
        prefix = self.robot.prefix
        return self.commands.step(
            n_steps,
            ctrl_map={prefix: target.ctrl} if target.ctrl else None,
            control_mode={prefix: 'raw'} if self.layout.raw else None,
            observations=self._level,
            include_cameras=dict(cameras) if cameras else None,
            timeout=TIMEOUT,
        )

    def drive(self, target: Target, timeout: float) -> None:
        """Command the twist of a target that has one; the server ends it after `timeout` s."""
        if target.twist is not None:
            vx, vy, yaw = target.twist
            self.commands.set_twist(
                self.robot.prefix, (vx, vy, 0.0), (0.0, 0.0, yaw), timeout=timeout
            )

    def look(self, cameras: Mapping[str, str]) -> StepResult:
        """Return state and pictures of a live world, of one and the same step."""
        return self._looks.step(
            observations=self._level,
            include_cameras=dict(cameras) if cameras else None,
            timeout=TIMEOUT,
        )

    def warm_up(self, cameras: Mapping[str, str]) -> None:
        """
        Wait until the server makes pictures: its renderer starts with the first request.

        :raises RobotError: when it makes none.
        """
        if not cameras or LIVE_CAMERAS not in self.handshake.extensions:
            return
        deadline = time.monotonic() + RENDERER_SECONDS
        while True:
            missing = set(cameras) - set(self.look(cameras).cameras)
            if not missing:
                return
            if time.monotonic() > deadline:
                raise RobotError(
                    f'the server makes no pictures of {", ".join(sorted(missing))} within '
                    f'{RENDERER_SECONDS:g} s; "urlab doctor" checks its rendering'
                )
            time.sleep(0.2)

    def reset(self, seed: int, keyframe: str) -> StepResult:
        """
        Rewind to a keyframe, with the joint noise of the profile.

        :raises UnknownKeyframe: nothing was reset.
        """
        noise = self.profile.reset.joint_noise
        name = keyframe or None
        result = self.commands.reset(name, seed)
        if noise > 0.0 and self.robot.joints:
            random = np.random.default_rng(seed)
            qpos = result.articulations[self.robot.prefix].qpos
            values = {
                joint.name: float(qpos[joint.slot] + random.normal(0.0, noise))
                for joint in self.robot.joints.values()
            }
            result = self.commands.reset(name, seed, {self.robot.prefix: values})
        return result

    def holding(self, seen: StepResult) -> Target:
        """Return the set-point that keeps a robot as it was just reset."""
        state = seen.articulations[self.robot.prefix]
        return self.layout.initial(state.qpos, state.ctrl)

    def use_mode(self, mode: str) -> str:
        """
        Switch the server's mode; return the previous one.

        :raises RobotError: when the mode is pinned to another.
        """
        if SHARED_SESSION in self.handshake.extensions:  # only then there is a status to ask for
            before = self.commands.status().mode
            if before == mode:
                return before
        try:
            return self.commands.set_mode(mode).previous
        except RemoteError as error:
            raise RobotError(f'this pace needs the server in {mode} mode: {error}') from error

    def steps_at(self, period: int) -> int:
        """
        Return the simulation steps of control period number `period`.

        The sum over periods never drifts from the control rate, whatever the timestep.
        """
        per_period = 1.0 / self.profile.control.rate / self.timestep
        return max(
            1, math.floor((period + 1) * per_period + 0.5) - math.floor(period * per_period + 0.5)
        )

    def describe(self) -> dict[str, Any]:
        """Return what metadata says of the robot and the pace."""
        profile, layout = self.profile, self.layout
        return {
            'cameras': [camera.name for camera in profile.cameras],
            'proprio_names': [stream.name for stream in profile.proprio],
            'action_shape': [layout.size],
            'action_type': layout.action_type(),
            'action_layout': layout.describe(),
            'control_hz': profile.control.rate,
            'robot': self.robot.prefix,
            'world': self.handshake.world,
            'pace': profile.pace,
            'frames': profile.frames,
            'timestamps': {
                'sim': 'simulated seconds',
                'monotonic': 'monotonic seconds of the server host',
                'unix_ns': 'unix nanoseconds',
            }[profile.clock],
            'extrinsics': 'camera to reference, row-major, OpenCV axes',
            'reference': profile.reference or self.robot.base,
            'depth': 'float32 metres along the optical axis, 0 = none',
            'instruction': profile.task.instruction,
            'chunks': profile.control.chunks,
        }
