# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A robot of the fake server: its state, what it does with commands, and how the wire has it."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
import math
from typing import Any
from typing import TypeAlias

import numpy as np

from urlab_ros_bridge.geometry import quaternion_of_rpy
from urlab_ros_bridge.geometry import xyzw_to_wxyz
from urlab_ros_bridge.wire.rows import BaseState
from urlab_ros_bridge.wire.rows import pack_base_state
from urlab_ros_bridge.wire.rows import pack_joint
from urlab_ros_bridge.wire.rows import pack_sensor
from urlab_ros_bridge.wire.rows import TWIST

STILL = (0.0, 0.0, 0.0)
Script: TypeAlias = 'Callable[[FakeRobot, float, float], None]'


@dataclass
class FakeRobot:
    """
    A robot that moves as its script says.

    :ivar joints: names of hinge joints, each with a position actuator of the same name.
    :ivar free_base: whether it can go about, and takes twists.
    :ivar sensors: name -> values, shape (dim,).
    :ivar script: called for each timestep with the robot, the time (s) and the timestep (s); None:
        the base has the commanded velocity, and joints are where they are sent, at once.
    :ivar place: x, y, z (m) of the base; `yaw` (rad), level ground.
    :ivar twist: commanded linear (m/s) and angular (rad/s) velocity in the base frame.
    :ivar velocity: linear velocity in the base frame (m/s); `yaw_rate` in rad/s.
    :ivar positions: joint -> rad; `velocities` rad/s; `targets` commanded rad.
    """

    prefix: str
    joints: Sequence[str] = ()
    free_base: bool = True
    sensors: Mapping[str, Sequence[float]] = field(default_factory=dict)
    script: Script | None = None
    place: np.ndarray = field(default_factory=lambda: np.zeros(3))
    yaw: float = 0.0
    velocity: tuple[float, float, float] = STILL
    yaw_rate: float = 0.0
    twist: tuple[Sequence[float], Sequence[float]] = (STILL, STILL)
    positions: dict[str, float] = field(default_factory=dict)
    velocities: dict[str, float] = field(default_factory=dict)
    targets: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.joints = tuple(self.joints)
        self.place = np.array(self.place, float)
        self._start = (self.place.copy(), self.yaw, dict(self.positions))
        self._until: float | None = None
        self.reset()

    def reset(self) -> None:
        """Go back to where it began, still."""
        place, self.yaw, positions = self._start
        self.place = place.copy()
        self.velocity, self.yaw_rate = STILL, 0.0
        self.twist, self._until = (STILL, STILL), None
        self.positions = {**dict.fromkeys(self.joints, 0.0), **positions}
        self.velocities = dict.fromkeys(self.joints, 0.0)
        self.targets = dict(self.positions)

    def command(
        self, linear: Sequence[float], angular: Sequence[float], until: float | None = None
    ) -> None:
        """Take a twist in the base frame; `until`: simulated time at which it ends (s)."""
        self.twist, self._until = (tuple(linear), tuple(angular)), until

    def advance(self, now: float, timestep: float) -> None:
        """Live through a timestep that begins at a time (s)."""
        if self._until is not None and now >= self._until - 1e-9:
            self.command(STILL, STILL)
        if self.script is not None:
            self.script(self, now, timestep)
        else:
            self.follow(timestep)

    def follow(self, timestep: float) -> None:
        """Do what was commanded, exactly; what a robot without script does."""
        (vx, vy, _), (_, _, self.yaw_rate) = self.twist
        self.velocity = (vx, vy, 0.0)
        cos, sin = math.cos(self.yaw), math.sin(self.yaw)
        self.place += np.array([cos * vx - sin * vy, sin * vx + cos * vy, 0.0]) * timestep
        self.yaw += self.yaw_rate * timestep
        for name, target in self.targets.items():
            self.velocities[name] = (target - self.positions[name]) / timestep
            self.positions[name] = target

    # -- on the wire --

    @property
    def _quaternion(self) -> tuple[float, float, float, float]:
        """Return w, x, y, z."""
        return xyzw_to_wxyz(quaternion_of_rpy(0.0, 0.0, self.yaw))

    @property
    def _world_velocity(self) -> tuple[float, float, float]:
        vx, vy, vz = self.velocity
        cos, sin = math.cos(self.yaw), math.sin(self.yaw)
        return (cos * vx - sin * vy, sin * vx + cos * vy, vz)

    def handshake(self) -> dict[str, Any]:
        """Return its block of hello_ok."""
        block: dict[str, Any] = {
            'prefix': self.prefix,
            'actor_id': self.prefix,
            'default_control_mode': 'raw',
            'actuator_types': dict.fromkeys(self.joints, 'position'),
            'original_names': {},
            'camera_topics': {},
        }
        if self.free_base:
            block['twist_controller'] = {'kind': 'planar', 'limits': {}}
        return block

    def observation(self, level: str) -> dict[str, Any]:
        """Return its block of a step reply or a snapshot."""
        q = [self.positions[name] for name in self.joints]
        v = [self.velocities[name] for name in self.joints]
        block: dict[str, Any] = {'qpos': q, 'qvel': v}
        if self.free_base:
            block['qpos'] = [*self.place.tolist(), *self._quaternion, *q]
            block['qvel'] = [*self._world_velocity, 0.0, 0.0, self.yaw_rate, *v]
        if level != 'minimal':
            if self.free_base:
                linear, angular = self.twist
                block |= {'twist': {'linear': [*linear], 'angular': [*angular]}, 'actions': 0}
            block['ctrl'] = [self.targets[name] for name in self.joints]
            block['act'] = [0.0] * len(self.joints)
            block['sensors'] = {name: [*map(float, v)] for name, v in self.sensors.items()}
        if level == 'full':
            pose = {'xpos': self.place.tolist(), 'xquat': [*self._quaternion]}
            block['bodies'] = {'base': pose}
            block['actuator_force'] = [0.0] * len(self.joints)
        return block

    def entity(self) -> dict[str, Any]:
        """Return its entry of get_entities_ok."""
        return {
            'name': self.prefix,
            'kind': 'articulation',
            'movable': False,
            'spawned': False,
            'pos': self.place.tolist(),
            'quat': [*self._quaternion],
            'linear': [*self._world_velocity],
            'angular': [0.0, 0.0, self.yaw_rate],
        }

    def rows(self) -> Iterator[tuple[str, bytes]]:
        """Yield topic and payload of each row of the state stream."""
        first = 0
        if self.free_base:
            w, x, y, z = self._quaternion
            x0, y0, z0 = self.place.tolist()
            state = BaseState(
                (x0, y0, z0), (x, y, z, w), self._world_velocity, (0.0, 0.0, self.yaw_rate)
            )
            yield f'{self.prefix}/base_state/root', pack_base_state(state)
            (vx, vy, _), (_, _, rate) = self.twist
            yield f'{self.prefix}/twist', TWIST.pack(vx, vy, rate)
            first = 1
        for number, name in enumerate(self.joints, first):
            row = pack_joint(number, self.positions[name], self.velocities[name], 0.0)
            yield f'{self.prefix}/joint/{name}', row
        for number, (name, values) in enumerate(self.sensors.items()):
            yield f'{self.prefix}/sensor/{name}', pack_sensor(number, np.asarray(values, '<f4'))


__all__ = ['STILL', 'FakeRobot', 'Script']
