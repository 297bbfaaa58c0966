# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What the compiled model tells about one articulation: joints, actuators, sensors, cameras.

Names are local, without the ``{prefix}_`` of the compiled model.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from urlab_ros_bridge.client.handshake import Camera
from urlab_ros_bridge.client.handshake import Handshake
from urlab_ros_bridge.gateways.chiral.errors import RobotError
from urlab_ros_bridge.wire.errors import UnknownName

# mjtJoint: positions and velocities that a joint of each type takes.
_FREE, _BALL, _SLIDE, _HINGE = 0, 1, 2, 3
_QPOS_WIDTH = {_FREE: 7, _BALL: 4, _SLIDE: 1, _HINGE: 1}
_DOF_WIDTH = {_FREE: 6, _BALL: 3, _SLIDE: 1, _HINGE: 1}
_JOINT_TRANSMISSION = 0  # mjtTrn
_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Joint:
    """
    A hinge or slide joint.

    :ivar slot: its place in the articulation's qpos; `dof` the place in its qvel.
    :ivar qpos_address: its place in the qpos of the whole model; `dof_address` in its qvel.
    """

    name: str
    id: int
    slot: int
    dof: int
    qpos_address: int
    dof_address: int


@dataclass(frozen=True, slots=True)
class Actuator:
    """
    An actuator.

    :ivar kind: ``position``, ``velocity``, ``motor``, ... of the handshake.
    :ivar joint: the joint it drives, empty for another transmission.
    :ivar low: smallest control (-inf: unlimited), `high` the largest.
    """

    name: str
    index: int
    kind: str
    joint: str
    gear: float
    low: float
    high: float


class RobotModel:
    """
    Name tables of one articulation.

    :ivar free: slot of the free base in the articulation's qpos, None for a fixed base.
    :ivar cameras: local name -> camera, then the cameras of the scene.
    """

    def __init__(self, handshake: Handshake, prefix: str) -> None:
        """
        Read the model of the handshake.

        :raises UnknownName: when there is no such articulation.
        :raises ModelUnavailable: without a model.
        """
        if prefix not in handshake.articulations:
            raise UnknownName('articulation', prefix, handshake.articulations)
        self.prefix = prefix
        self.description = handshake.articulations[prefix]
        self.model = handshake.model
        self._others = tuple(
            f'{other}_' for other in handshake.articulations if other.startswith(f'{prefix}_')
        )
        self.joints, self.free = self._read_joints()
        self.actuators = self._read_actuators()
        self.sensors = self._local(self.model.sensor, self.model.nsensor)
        self.bodies = self._local(self.model.body, self.model.nbody)
        self.sites = self._local(self.model.site, self.model.nsite)
        self.keyframes = self._local(self.model.key, self.model.nkey)
        self.cameras: dict[str, Camera] = dict(self.description.cameras)
        self.global_cameras = handshake.global_cameras

    @property
    def has_controller(self) -> bool:
        """Return whether setpoints are joint positions that a controller follows."""
        return self.description.controller.get('kind') == 'pd'

    @property
    def base(self) -> str:
        """Return the compiled name of the base body, ``world`` when the robot has no body."""
        named = self.description.frames.get('base')
        if named in self.bodies:
            return self.compiled(named)
        return self.compiled(next(iter(self.bodies))) if self.bodies else 'world'

    def compiled(self, name: str) -> str:
        """Return the name in the compiled model."""
        return f'{self.prefix}_{name}'

    def need_joints(self, names: Iterable[str] | None) -> list[Joint]:
        """
        Return joints by name; None means all.

        :raises UnknownName: for a name that is no hinge or slide joint.
        """
        return self._need('joint', self.joints, names)

    def need_actuators(self, names: Iterable[str] | None) -> list[Actuator]:
        """
        Return actuators by name; None means all.

        :raises UnknownName: for a name that is no actuator.
        """
        return self._need('actuator', self.actuators, names)

    def actuators_of(self, joints: Iterable[Joint]) -> list[Actuator]:
        """
        Return the actuator of each joint.

        :raises RobotError: when a joint has none.
        """
        by_joint = {a.joint: a for a in self.actuators.values() if a.joint}
        found = []
        for joint in joints:
            if joint.name not in by_joint:
                raise RobotError(
                    f'joint {joint.name!r} of {self.prefix} has no actuator; driven are: '
                    + (', '.join(by_joint) or 'none')
                )
            found.append(by_joint[joint.name])
        return found

    def body_or_site(self, name: str) -> tuple[str, str]:
        """
        Return ('body' | 'site', compiled name); the name may be local, compiled, or ``world``.

        :raises UnknownName: when there is neither.
        """
        for kind, local, get in (
            ('site', self.sites, self.model.site),
            ('body', self.bodies, self.model.body),
        ):
            if name in local:
                return kind, self.compiled(name)
            try:
                return kind, get(name).name
            except KeyError:
                continue
        raise UnknownName('body or site', name, [*self.sites, *self.bodies])

    def camera(self, name: str) -> tuple[Camera, str]:
        """
        Return a camera of the robot, or of the scene, and its compiled name.

        :raises UnknownName: when there is none.
        """
        if name in self.cameras:
            return self.cameras[name], self.compiled(name)
        if name in self.global_cameras:
            return self.global_cameras[name], name
        raise UnknownName('camera', name, [*self.cameras, *self.global_cameras])

    def aligned_depth(self, name: str) -> str | None:
        """Return the depth camera with the pose, the view and the size of a colour camera."""
        colour, compiled = self.camera(name)
        view = self.model.camera(compiled)
        for other in [*self.cameras, *self.global_cameras]:
            depth, depth_compiled = self.camera(other)
            fits = depth.mode == 'depth' and depth.resolution == colour.resolution
            if fits and self._same_view(view, self.model.camera(depth_compiled)):
                return other
        return None

    @staticmethod
    def _same_view(one: Any, two: Any) -> bool:
        return one.bodyid[0] == two.bodyid[0] and all(
            np.abs(np.asarray(getattr(one, key)) - np.asarray(getattr(two, key))).max() < _SAME
            for key in ('pos', 'quat', 'fovy')
        )

    def _is_mine(self, name: str) -> bool:
        return name.startswith(f'{self.prefix}_') and not name.startswith(self._others)

    def _local(self, get: Any, count: int) -> dict[str, int]:
        names = ((get(i).name, i) for i in range(count))
        return {name[len(self.prefix) + 1 :]: i for name, i in names if self._is_mine(name)}

    def _read_joints(self) -> tuple[dict[str, Joint], int | None]:
        model = self.model
        slot = dof = 0
        joints: dict[str, Joint] = {}
        free = None
        for name, i in self._local(model.joint, model.njnt).items():
            kind = int(model.jnt_type[i])
            if kind in (_SLIDE, _HINGE):
                addresses = int(model.jnt_qposadr[i]), int(model.jnt_dofadr[i])
                joints[name] = Joint(name, i, slot, dof, *addresses)
            elif kind == _FREE and free is None:
                free = slot
            slot += _QPOS_WIDTH[kind]
            dof += _DOF_WIDTH[kind]
        return joints, free

    def _read_actuators(self) -> dict[str, Actuator]:
        model = self.model
        by_id = {joint.id: joint.name for joint in self.joints.values()}
        found: dict[str, Actuator] = {}
        for index, (name, i) in enumerate(self._local(model.actuator, model.nu).items()):
            is_joint = int(model.actuator_trntype[i]) == _JOINT_TRANSMISSION
            low, high = model.actuator_ctrlrange[i].tolist()
            limited = bool(model.actuator_ctrllimited[i])
            found[name] = Actuator(
                name,
                index,
                self.description.actuator_types.get(name, 'motor'),
                by_id.get(int(model.actuator_trnid[i, 0]), '') if is_joint else '',
                float(model.actuator_gear[i, 0]),
                low if limited else -np.inf,
                high if limited else np.inf,
            )
        return found

    def _need(self, kind: str, table: dict[str, Any], names: Iterable[str] | None) -> list[Any]:
        chosen = list(table) if names is None else list(names)
        for name in chosen:
            if name not in table:
                raise UnknownName(kind, name, table)
        return [table[name] for name in chosen]
