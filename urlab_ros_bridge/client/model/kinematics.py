# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Kinematics at the client: the model of the handshake, posed by received positions.

The server sends positions of joints; where bodies, sites and cameras are follows from them, and is
computed here with MuJoCo's own forward kinematics.  Needs the package mujoco.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import copy
from typing import Any

import numpy as np

from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.client.model import read_world
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.wire.errors import UnknownName

_FREE_WIDTH = 7
# Bits of a mask of collisions that models use, if they use few.
_HALF = 16
_COPIED_BYTES = 1 << 24
_NO_CONTACTS = np.zeros((0, 3)), np.zeros((0, 2), np.intp)


class LocalModel:
    """
    A model and its data.  Not thread-safe.

    Write positions, call `kinematics`, read poses.  Names are those of the compiled model
    (``{prefix}_{name}``); poses are in the world, in metres, quaternions w x y z.

    :ivar model: the `mujoco.MjModel`, shared with the handshake; `data` is this object's own.
    """

    def __init__(self, handshake: Handshake) -> None:
        """
        Load the model.

        :raises ModelUnavailable: without mujoco, with another version than the server's, or
            without a world.
        """
        self.model = handshake.model
        import mujoco

        self._mujoco = mujoco
        self.data = mujoco.MjData(self.model)
        self._entities = handshake.entities
        slots: dict[str, list[int]] = {prefix: [] for prefix in handshake.articulations}
        for joint in read_world(handshake).joints:
            if joint.prefix:
                slots[joint.prefix] += range(joint.qpos_address, joint.qpos_address + joint.width)
        m = self.model
        self._mocap = {
            m.body(i).name: int(m.body_mocapid[i]) for i in np.flatnonzero(m.body_mocapid >= 0)
        }
        # What was asked for last: bodies, geoms, and a model in which little else collides.
        self._touching: tuple[np.ndarray | None, np.ndarray, Any] | None = None
        self._slots = {prefix: np.array(s, np.intp) for prefix, s in slots.items()}
        self.kinematics()

    def joint_slots(self, prefix: str) -> np.ndarray:
        """
        Return the slots of an articulation's positions in the model's qpos, in wire order.

        :raises UnknownName: when there is no such articulation.
        """
        if prefix not in self._slots:
            raise UnknownName('articulation', prefix, self._slots)
        return self._slots[prefix]

    def write(self, prefix: str, qpos: Sequence[float] | np.ndarray) -> None:
        """
        Set the positions of an articulation.

        :param qpos: as in an observation: the slots of its joints in order of joint id.
        :raises ProtocolError: when the length is not that of the model.
        """
        slots = self.joint_slots(prefix)
        if len(qpos) != len(slots):
            raise ProtocolError(
                f'qpos of {prefix} has {len(qpos)} values, the model has {len(slots)}'
            )
        self.data.qpos[slots] = qpos

    def write_entity(self, name: str, qpos: Sequence[float] | np.ndarray) -> None:
        """
        Set the pose of a free body that belongs to no articulation.

        :param qpos: position and quaternion w x y z.
        :raises UnknownName: when there is no such entity, or it is not free.
        """
        entity = self._entities.get(name)
        if entity is None or not entity.has_free_base:
            free = [n for n, e in self._entities.items() if e.has_free_base]
            raise UnknownName('free entity', name, free)
        if len(qpos) != _FREE_WIDTH:
            raise ProtocolError(f'qpos of {name} has {len(qpos)} values, a free body has 7')
        start = entity.qpos_offset
        self.data.qpos[start : start + _FREE_WIDTH] = qpos

    def place_bodies(self, poses: Mapping[int, tuple[np.ndarray, np.ndarray]]) -> None:
        """
        Put bodies at the poses that the server reports, with everything fixed to them.

        For bodies whose joints are in no message: doors of the scenery, mocap bodies.  It holds
        until the next `kinematics`, after which it belongs.

        :param poses: id -> position, shape (3,), and quaternion w x y z.
        """
        model, data, mujoco = self.model, self.data, self._mujoco
        placed = set(poses)
        for body in range(min(poses, default=model.nbody), model.nbody):
            parent = int(model.body_parentid[body])
            if body in poses:
                data.xpos[body], data.xquat[body] = poses[body]
            elif parent in placed and not model.body_jntnum[body]:
                offset = np.zeros(3)
                mujoco.mju_rotVecQuat(offset, model.body_pos[body], data.xquat[parent])
                data.xpos[body] = data.xpos[parent] + offset
                mujoco.mju_mulQuat(data.xquat[body], data.xquat[parent], model.body_quat[body])
                placed.add(body)
            else:
                continue
            mujoco.mju_quat2Mat(data.xmat[body], data.xquat[body])

    def write_mocap(self, name: str, position: np.ndarray, quat: np.ndarray) -> None:
        """
        Set the pose of a body that clients move.

        :param name: compiled name; a body that is not a mocap body is left as it is.
        :param quat: w x y z.
        """
        slot = self.mocap_slot(name)
        if slot is not None:
            self.data.mocap_pos[slot] = position
            self.data.mocap_quat[slot] = quat

    def mocap_slot(self, name: str) -> int | None:
        """Return the row of a body in mocap_pos and mocap_quat; None for one that has none."""
        return self._mocap.get(name)

    def contacts(self, bodies: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """
        Find what touches, after `kinematics`.

        :param bodies: mask of shape (nbody,), not to be changed: only what these touch; None:
            everything.
        :returns: points in the world, shape (k, 3), and the ids of the two bodies, shape (k, 2).
        """
        if self._touching is None or self._touching[0] is not bodies:
            every = np.ones(self.model.nbody, bool) if bodies is None else bodies
            # The last entry is that of -1: flexes are no geoms.
            wanted = np.append(every[self.model.geom_bodyid], False)
            self._touching = bodies, wanted, _colliding(self.model, wanted[:-1])
        _, wanted, model = self._touching
        self._mujoco.mj_collision(model, self.data)
        if not self.data.ncon:
            return _NO_CONTACTS
        found = self.data.contact
        pairs = found.geom  # each of these is a copy
        touched = wanted.take(pairs)
        if not touched.any():
            return _NO_CONTACTS
        touches = touched.any(axis=1)
        touches &= (pairs.min(axis=1) >= 0) & (found.exclude == 0) & (found.dist <= 0.0)
        return found.pos[touches], self.model.geom_bodyid[pairs[touches]]

    def kinematics(self, *, cameras: bool = True) -> None:
        """
        Compute the poses of everything from the positions.

        :param cameras: of cameras too, which takes as long again.
        """
        self._mujoco.mj_kinematics(self.model, self.data)
        if not cameras:
            return
        # Cameras that follow a body look at its centre of mass.
        self._mujoco.mj_comPos(self.model, self.data)
        self._mujoco.mj_camlight(self.model, self.data)

    def body_pose(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """
        Return position, shape (3,), and quaternion, shape (4,).

        :raises UnknownName: when there is no such body.
        """
        body = self._view('body', name)
        return body.xpos.copy(), body.xquat.copy()

    def site_pose(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """
        Return position and quaternion of a site.

        :raises UnknownName: when there is no such site.
        """
        site = self._view('site', name)
        return site.xpos.copy(), self._quat(site.xmat)

    def camera_pose(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """
        Return position and quaternion of a camera; it looks along its -z axis, y is up.

        :raises UnknownName: when there is no such camera.
        """
        camera = self._view('camera', name)
        return camera.xpos.copy(), self._quat(camera.xmat)

    def _view(self, kind: str, name: str) -> Any:
        try:
            return getattr(self.data, kind)(name)
        except KeyError:
            count = {'body': 'nbody', 'site': 'nsite', 'camera': 'ncam'}[kind]
            get = getattr(self.model, kind)
            names = [get(i).name for i in range(getattr(self.model, count))]
            raise UnknownName(kind, name, names) from None

    def _quat(self, matrix: np.ndarray) -> np.ndarray:
        quat = np.zeros(4)
        self._mujoco.mju_mat2Quat(quat, matrix)
        return quat


def _colliding(model: Any, wanted: np.ndarray) -> Any:
    """
    Return a model in which geoms collide as in `model` if one of both is wanted, and else never.

    Explicit pairs are left as they are, and so is a model that is too large to have twice.

    :param wanted: mask of shape (ngeom,).
    """
    kinds, takes = (np.asarray(m, np.uint32) for m in (model.geom_contype, model.geom_conaffinity))
    few = max(kinds.max(initial=0), takes.max(initial=0)) < 1 << _HALF
    if wanted.all() or not few or model.nbuffer > _COPIED_BYTES:
        return model
    found = copy.copy(model)
    # Two geoms collide when the kinds of one are among those that the other takes.  The upper
    # halves are the kinds of the wanted ones, and what the others take.
    kinds = np.where(wanted, kinds | kinds << _HALF, kinds).view(np.int32)
    takes = np.where(wanted, takes, takes << _HALF).view(np.int32)
    found.geom_contype[:], found.geom_conaffinity[:] = kinds, takes
    for masks, of_bodies in ((kinds, found.body_contype), (takes, found.body_conaffinity)):
        of_bodies[:] = 0
        np.bitwise_or.at(of_bodies, model.geom_bodyid, masks)
    return found
