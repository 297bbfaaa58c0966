# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Actors in the running world: where they are, and moving what can be moved.

An actor's pose is that of its own frame.  A robot's root body usually stands off that frame, so
it is worked out from where the body was when the level was compiled.  All functions but `pose_now`
take the engine's lock, so the caller must not hold it.
"""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np

from urlab_ros_bridge.sim.editor.level.geometry import Boxes
from urlab_ros_bridge.sim.editor.level.geometry import boxes_of
from urlab_ros_bridge.sim.editor.level.transforms import ActorPose
from urlab_ros_bridge.sim.stage import Context

_FREE = int(mujoco.mjtJoint.mjJNT_FREE)


class RunningWorld:
    """
    The running world as the editor sees it.

    :param poses: the actors' poses as they were compiled, by name.
    """

    def __init__(self, context: Context, poses: Mapping[str, ActorPose]) -> None:
        self._context = context
        self._model = context.world.model
        self._poses = poses

    @property
    def sim_time(self) -> float:
        """Return the simulated seconds."""
        return float(self._context.world.data.time)

    def others(self, names: set[str]) -> list[str]:
        """Return the top-level dynamic bodies of the scene file: those not in `names`."""
        return [
            name
            for name, entity in self._context.world.entities.items()
            if name not in names and self._model.body_parentid[entity.body] == 0
        ]

    def has(self, name: str) -> bool:
        """Return whether there is an actor or a body of this name."""
        return self._root(name) >= 0

    def pose(self, name: str) -> ActorPose | None:
        """Return where an actor or a dynamic body of the scene is; None when it is not here."""
        with self._context.engine.lock:
            return self.pose_now(name)

    def pose_now(self, name: str) -> ActorPose | None:
        """Return the same; the caller holds the engine's lock."""
        root = self._root(name)
        if root < 0:
            return None
        data = self._context.world.data
        now = ActorPose(tuple(data.xpos[root].tolist()), tuple(data.xquat[root].tolist()))
        return now @ self._offset(name, root).inverse()

    def boxes(self, name: str) -> Boxes:
        """Return the boxes of an actor's geoms, in the world."""
        bodies = self._bodies(name)
        with self._context.engine.lock:
            return boxes_of(self._model, self._context.world.data, bodies)

    def place(self, name: str, pose: ActorPose) -> bool:
        """
        Move an actor whose root is free or a mocap body; its velocity stays.

        :return: false when it cannot be moved while the world runs.
        """
        root = self._root(name)
        if root < 0:
            return False
        wanted = pose @ self._offset(name, root)
        mocap, joint = int(self._model.body_mocapid[root]), int(self._model.body_jntadr[root])
        engine, data = self._context.engine, self._context.world.data
        free = joint >= 0 and self._model.jnt_type[joint] == _FREE
        if mocap < 0 and not free:
            return False
        with engine.lock:
            if free:
                start = self._model.jnt_qposadr[joint]
                data.qpos[start : start + 7] = (*wanted.pos, *wanted.quat)
            else:
                data.mocap_pos[mocap], data.mocap_quat[mocap] = wanted.pos, wanted.quat
            engine.settle()
            engine.state_changed()
        return True

    def _root(self, name: str) -> int:
        """Return the root body of an actor, -1 when the world was compiled without it."""
        world = self._context.world
        if name in world.articulations:
            bodies = world.articulations[name].bodies
            return bodies[0].id if bodies else -1
        if name not in self._poses and name not in world.entities:
            return -1
        return mujoco.mj_name2id(self._model, mujoco.mjtObj.mjOBJ_BODY, name)

    def _offset(self, name: str, root: int) -> ActorPose:
        """Return the root body's pose in the actor's frame, in the reference configuration."""
        if name not in self._poses:
            return ActorPose()
        model = self._model
        body = ActorPose(
            tuple(model.body_pos[root].tolist()), tuple(model.body_quat[root].tolist())
        )
        return self._poses[name].inverse() @ body

    def _bodies(self, name: str) -> list[int]:
        """Return the bodies of an actor; a robot's file may have several trees of them."""
        robot = self._context.world.articulations.get(name)
        if robot is not None:
            return [body.id for body in robot.bodies]
        root = self._root(name)
        if root < 0:
            return []
        below = self._model.body_rootid == self._model.body_rootid[root]
        return np.flatnonzero(below).tolist()
