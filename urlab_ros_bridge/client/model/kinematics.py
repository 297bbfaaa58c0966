# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Kinematics at the client: poses of bodies, sites and cameras from received positions.

They are computed with MuJoCo's own forward kinematics, so this needs the package mujoco.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import numpy as np

from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.client.model import read_world
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.client.replies.observations import WorldObservation
from urlab_ros_bridge.model import RobotModel
from urlab_ros_bridge.wire.errors import UnknownName

_FREE_WIDTH = 7
_NO_CONTACTS = np.zeros((0, 3)), np.zeros((0, 2), np.intp)


class LocalModel:
    """
    The model of a handshake and its data.  Not thread-safe.

    Write positions and call `kinematics`, or `update` with an observation; then read poses.
    Names are those of the compiled model (``{prefix}_{name}``); poses are in the world, in metres,
    quaternions w x y z.

    :ivar model: the `mujoco.MjModel`, shared with the handshake; `data` is this object's own.
    :ivar robot_bodies: ids of the bodies of all articulations; `body_ids` those of all by name.
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
        tables = self._tables = read_world(handshake)
        self._slots = {
            prefix: np.arange(self.model.nq)[RobotModel(prefix, tables).qpos]
            for prefix in handshake.articulations
        }
        self.robot_bodies = [body.id for body in tables.bodies[1:] if body.prefix]
        self.body_ids = {body.compiled: body.id for body in tables.bodies}
        self._mocap = {body.compiled: body.mocap_id for body in tables.bodies if body.mocap}
        self.kinematics()

    def update(self, seen: WorldObservation, *, cameras: bool = True) -> None:
        """
        Take over an observation and recompute all poses.

        :param cameras: those of cameras too.
        :raises UrlabError: when the observation does not fit the model.
        """
        placed = {}
        for prefix, state in seen.articulations.items():
            self.write(prefix, state.qpos)
        for name, entity in seen.entities.items():
            if len(entity.qpos):
                self.write_entity(name, entity.qpos)
            elif len(entity.xpos) == 3 and len(entity.xquat) == 4:
                self.write_mocap(name, entity.xpos, entity.xquat)
                if name in self.body_ids and name not in self._mocap:
                    placed[self.body_ids[name]] = entity.xpos, entity.xquat
        self.kinematics(cameras=cameras)
        self.place_bodies(placed)

    def write(self, prefix: str, qpos: Sequence[float] | np.ndarray) -> None:
        """
        Set the positions of an articulation.

        :param qpos: as in an observation: the slots of its joints in order of joint id.
        :raises UnknownName: when there is no such articulation.
        :raises ProtocolError: when the length is not that of the model.
        """
        if prefix not in self._slots:
            raise UnknownName('articulation', prefix, self._slots)
        slots = self._slots[prefix]
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
            self._place_geoms(body)

    def _place_geoms(self, body: int) -> None:
        model, data = self.model, self.data
        rotation = data.xmat[body].reshape(3, 3)
        first = int(model.body_geomadr[body])
        for geom in range(first, first + int(model.body_geomnum[body])):
            data.geom_xpos[geom] = data.xpos[body] + rotation @ model.geom_pos[geom]
            quat = np.zeros(4)
            self._mujoco.mju_mulQuat(quat, data.xquat[body], model.geom_quat[geom])
            self._mujoco.mju_quat2Mat(data.geom_xmat[geom], quat)

    def write_mocap(self, name: str, position: np.ndarray, quat: np.ndarray) -> None:
        """
        Set the pose of a body that clients move.

        :param name: compiled name; a body that is not a mocap body is left as it is.
        :param quat: w x y z.
        """
        row = self._mocap.get(name)
        if row is not None:
            self.data.mocap_pos[row] = position
            self.data.mocap_quat[row] = quat

    def contacts(self, bodies: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """
        Find contacts, after `kinematics`.

        :param bodies: mask of shape (nbody,): only contacts of these; None: all.
        :returns: points in the world, shape (k, 3), and the ids of the two bodies, shape (k, 2).
        """
        self._mujoco.mj_collision(self.model, self.data)
        if not self.data.ncon:
            return _NO_CONTACTS
        found = self.data.contact
        pairs = found.geom  # -1 for flexes, which are no geoms
        touches = (pairs.min(axis=1) >= 0) & (found.exclude == 0) & (found.dist <= 0.0)
        of_bodies = self.model.geom_bodyid[pairs]
        if bodies is not None:
            touches &= bodies[of_bodies].any(axis=1)
        return found.pos[touches], of_bodies[touches]

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
            table = {'body': 'bodies', 'site': 'sites', 'camera': 'cameras'}[kind]
            names = [element.compiled for element in getattr(self._tables, table)]
            raise UnknownName(kind, name, names) from None

    def _quat(self, matrix: np.ndarray) -> np.ndarray:
        quat = np.zeros(4)
        self._mujoco.mju_mat2Quat(quat, matrix)
        return quat
