# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The model of the handshake, loaded here: what belongs to whom, and what its state must look like.

Compiled names are ``{prefix}_{local}``; on the wire they are local.  MuJoCo is imported only when
a check needs it, so that the suite runs without (those checks are skipped then).
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
import tempfile
from typing import Any

import numpy as np

from urlab_ros_bridge.conformance.verdict import Failed
from urlab_ros_bridge.conformance.verdict import skip
from urlab_ros_bridge.wire.names import Prefixes

_WIDTHS = {0: (7, 6), 1: (4, 3), 2: (1, 1), 3: (1, 1)}  # mjtJoint: free, ball, slide, hinge
FREE = 0


@dataclass(frozen=True, slots=True)
class JointView:
    """One joint: its slots are qpos[q : q + nq] and qvel[v : v + nv]."""

    id: int
    name: str
    kind: int
    q: int
    v: int

    @property
    def nq(self) -> int:
        """Return the number of qpos slots."""
        return _WIDTHS[self.kind][0]

    @property
    def nv(self) -> int:
        """Return the number of qvel slots."""
        return _WIDTHS[self.kind][1]


@dataclass(slots=True)
class Robot:
    """
    The parts of one articulation, names local, in order of id.

    :ivar sensors: local name -> (id, start, dim).
    """

    prefix: str
    joints: list[JointView] = field(default_factory=list)
    actuators: list[tuple[int, str]] = field(default_factory=list)
    sensors: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    bodies: dict[str, int] = field(default_factory=dict)

    @property
    def qpos(self) -> list[int]:
        """Return the qpos slots in wire order."""
        return [slot for joint in self.joints for slot in range(joint.q, joint.q + joint.nq)]

    @property
    def qvel(self) -> list[int]:
        """Return the qvel slots in wire order."""
        return [slot for joint in self.joints for slot in range(joint.v, joint.v + joint.nv)]

    @property
    def free_base(self) -> bool:
        """Return whether the first joint is free."""
        return bool(self.joints) and self.joints[0].kind == FREE


class ModelView:
    """
    The compiled model and its index by articulation and entity.

    :ivar start: qpos after a plain reset: qpos0, unless the server has reported `start_qpos`.
    """

    def __init__(
        self, mjb: bytes, prefixes: list[str], entities: dict[str, Any], start: Any = None
    ) -> None:
        import mujoco

        self._mujoco = mujoco
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / 'model.mjb'
            path.write_bytes(mjb)
            try:
                self.mj = mujoco.MjModel.from_binary_path(str(path))
            except (ValueError, RuntimeError, mujoco.FatalError) as error:
                raise Failed('an mjb that MuJoCo loads', str(error)) from None
        self.start = np.array(self.mj.qpos0 if start is None else start, dtype=float)
        if self.start.shape != (self.mj.nq,):
            raise Failed(f'start_qpos with {self.mj.nq} numbers', str(self.start.shape))
        self.prefixes = Prefixes(prefixes)
        self.robots = {prefix: self._robot(prefix) for prefix in prefixes}
        self.free_entities = {
            name: self._entity_joint(name)
            for name, block in entities.items()
            if isinstance(block, dict) and block.get('has_free_base') is True
        }

    def name(self, kind: str, number: int) -> str:
        """Return the compiled name of an element, '' when it has none."""
        kind = {'key': 'KEY', 'geom': 'GEOM', 'body': 'BODY', 'joint': 'JOINT'}[kind]
        return self._mujoco.mj_id2name(self.mj, self._enum(kind), number) or ''

    def find(self, kind: str, name: str) -> int:
        """Return an element's id by compiled name, -1 when there is none."""
        kind = {'key': 'KEY', 'geom': 'GEOM', 'body': 'BODY', 'joint': 'JOINT'}[kind]
        return self._mujoco.mj_name2id(self.mj, self._enum(kind), name)

    def settled(self, qpos: Any, qvel: Any = None, ctrl: Any = None) -> Any:
        """Return MjData after mj_forward of a state."""
        data = self._mujoco.MjData(self.mj)
        data.qpos[:] = qpos
        if qvel is not None:
            data.qvel[:] = qvel
        if ctrl is not None:
            data.ctrl[:] = ctrl
        self._mujoco.mj_forward(self.mj, data)
        return data

    def contact_force(self, data: Any, index: int) -> list[float]:
        """Return mj_contactForce of a contact."""
        force = np.zeros(6)
        self._mujoco.mj_contactForce(self.mj, data, index, force)
        return force.tolist()

    def whole(self, reply: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        """
        Put the qpos and qvel of a reply together, in order of the model.

        :raises Skipped: when the model has joints that no reply reports.
        """
        qpos, qvel = np.array(self.mj.qpos0), np.zeros(self.mj.nv)
        seen: set[int] = set()
        for prefix, robot in self.robots.items():
            block = reply['per_articulation'][prefix]
            qpos[robot.qpos], qvel[robot.qvel] = block['qpos'], block['qvel']
            seen.update(joint.id for joint in robot.joints)
        for name, joint in self.free_entities.items():
            block = reply['entities'][name]
            qpos[joint.q : joint.q + 7], qvel[joint.v : joint.v + 6] = block['qpos'], block['qvel']
            seen.add(joint.id)
        if len(seen) < self.mj.njnt:
            raise skip('some joints belong to no articulation and no free entity')
        return qpos, qvel

    def _entity_joint(self, name: str) -> JointView:
        body = self.find('body', name)
        if body < 0 or not self.mj.body_jntnum[body]:
            raise Failed(f'entity {name!r} as a body with a free joint in the model', 'none')
        return self._joint(int(self.mj.body_jntadr[body]), '')

    def _joint(self, number: int, cut: str) -> JointView:
        mj = self.mj
        return JointView(
            number,
            self.name('joint', number).removeprefix(cut),
            int(mj.jnt_type[number]),
            int(mj.jnt_qposadr[number]),
            int(mj.jnt_dofadr[number]),
        )

    def _enum(self, kind: str) -> int:
        return getattr(self._mujoco.mjtObj, f'mjOBJ_{kind}')

    def _members(self, kind: str, count: int, prefix: str) -> list[tuple[int, str]]:
        found = []
        for number in range(count):
            name = self._mujoco.mj_id2name(self.mj, self._enum(kind), number) or ''
            local = prefix if name == prefix else self.prefixes.local(prefix, name)
            if local is not None:
                found.append((number, local))
        return found

    def _robot(self, prefix: str) -> Robot:
        mj, cut = self.mj, f'{prefix}_'
        sensors = {
            name: (number, int(mj.sensor_adr[number]), int(mj.sensor_dim[number]))
            for number, name in self._members('SENSOR', mj.nsensor, prefix)
        }
        return Robot(
            prefix,
            [self._joint(number, cut) for number, _ in self._members('JOINT', mj.njnt, prefix)],
            self._members('ACTUATOR', mj.nu, prefix),
            sensors,
            {name: number for number, name in self._members('BODY', mj.nbody, prefix)},
        )


def load_model(hello: dict[str, Any]) -> ModelView:
    """
    Load the model of a hello_ok.

    :raises Skipped: when MuJoCo is not installed here, or another version than the server's.
    :raises Failed: when the model does not load.
    """
    try:
        import mujoco
    except ImportError:
        raise skip('MuJoCo is not installed here: run "urlab setup"') from None
    theirs = hello.get('mujoco_version')
    if theirs != mujoco.__version__:
        raise skip(f'MuJoCo here is {mujoco.__version__}, the server has {theirs}')
    if not isinstance(hello.get('mjb'), bytes):
        raise Failed('mjb as binary', type(hello.get('mjb')).__name__)
    prefixes = [block['prefix'] for block in hello['articulations']]
    start = hello.get('start_qpos') if 'start_keyframe' in hello.get('extensions', ()) else None
    return ModelView(hello['mjb'], prefixes, hello.get('entities') or {}, start)
