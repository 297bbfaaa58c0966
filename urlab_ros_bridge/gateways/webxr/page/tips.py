# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The ends of arms that a mouse can lead, by inverse kinematics."""

from __future__ import annotations

from dataclasses import dataclass
import threading
from typing import Any

import numpy as np

from urlab_ros_bridge.client.model import Actuator
from urlab_ros_bridge.client.model import Body
from urlab_ros_bridge.client.model import Joint
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.gateways.common.errors import RobotError
from urlab_ros_bridge.gateways.common.motion.ik import PoseSolver
from urlab_ros_bridge.gateways.common.simulation.robot import FrameName
from urlab_ros_bridge.gateways.common.simulation.robot import read_served_robot
from urlab_ros_bridge.gateways.common.simulation.robot import ServedRobot
from urlab_ros_bridge.geometry import ORIGIN
from urlab_ros_bridge.geometry import Vector

# An arm has so many driven joints in a row at least; a finger has fewer, a leg of a walker as many
# but stands on it.
FEWEST_JOINTS = 4
_GRIPPER_WORDS = ('gripper', 'finger', 'hand', 'thumb', 'jaw', 'knuckle')
_TIP_WORDS = ('tcp', 'tip', 'pinch', 'grasp', 'ee', 'end_effector', 'tool', 'attachment')
# How far a set-point may run ahead of its joint (rad or m): a mouse is fast, an arm is not.
_LEAD = 0.5


@dataclass(frozen=True)
class Tip:
    """
    The end of an arm.

    :ivar name: of its frame in the robot; `frame` where it is.
    :ivar body: that carries it, and the place of the tip in it.
    :ivar joints: that lead to it, with `actuators` that are positions.
    """

    robot: ServedRobot
    name: str
    frame: FrameName
    body: int
    offset: Vector
    joints: tuple[Joint, ...]
    actuators: tuple[Actuator, ...]


def find_tips(handshake: Handshake) -> tuple[Tip, ...]:
    """Return the tips of all robots: the place of each is its number."""
    found: list[Tip] = []
    for prefix in handshake.articulations:
        robot = read_served_robot(handshake, prefix)
        if robot.free is not None:
            continue  # legs carry it
        seen: set[int] = set()
        for chain in robot.chains:
            wrist = _wrist(robot, chain.joints)
            if wrist is not None and wrist.id not in seen:
                seen.add(wrist.id)
                tip = _tip(robot, wrist)
                if tip is not None:
                    found.append(tip)
    return tuple(found)


def _wrist(robot: ServedRobot, joints: tuple[Joint, ...]) -> Body | None:
    """Return the body after which only the gripper comes."""
    driven = {actuator.joint for actuator in robot.actuators.values()}
    arm = [
        joint
        for joint in joints
        if joint.is_scalar
        and joint.name in driven
        and not any(word in joint.name.lower() for word in _GRIPPER_WORDS)
    ]
    return robot.world.bodies[arm[-1].body] if len(arm) >= FEWEST_JOINTS else None


def _tip(robot: ServedRobot, wrist: Body) -> Tip | None:
    inside = {wrist.id}
    for below in robot.world.subtree(wrist.id)[1:]:
        if not below.dofs and below.parent in inside:
            inside.add(below.id)  # fixed to the wrist
    sites = [site for site in robot.sites.values() if site.body in inside]
    named = [s for s in sites if any(word in s.name.lower() for word in _TIP_WORDS)]
    if named:
        name, body, offset = named[0].name, named[0].body, named[0].pose.position
    else:
        name, body, offset = wrist.name, wrist.id, ORIGIN
    frame = robot.frame(name)
    joints = [
        joint
        for joint in robot.moving_joints(frame)
        if not any(word in joint.name.lower() for word in _GRIPPER_WORDS)
    ]
    try:
        actuators = robot.setpoints_of(robot.actuators_of(joints))
    except RobotError:
        return None
    if not all(robot.has_controller or actuator.kind == 'position' for actuator in actuators):
        return None
    return Tip(robot, name, frame, body, offset, tuple(joints), tuple(actuators))


class TipSolver:
    """Set-points that bring one tip to a place.  Thread-safe."""

    def __init__(self, model: Any, tip: Tip) -> None:
        """
        Prepare the inverse kinematics.

        :param model: mujoco.MjModel.
        :raises RobotError: when mink is not installed.
        """
        self._tip = tip
        self._solver = PoseSolver(model, *tip.frame, tip.joints)
        self._slots = np.array([joint.qpos_address for joint in tip.joints], np.intp)
        self._lock = threading.Lock()
        self._rotation: np.ndarray | None = None

    def grasp(self, qpos: np.ndarray) -> None:
        """Keep the orientation that the tip has now until the next `grasp`."""
        with self._lock:
            _, self._rotation = self._solver.forward(qpos, qpos[self._slots])

    def setpoints(self, qpos: np.ndarray, position: Vector) -> dict[str, float]:
        """
        Return actuator -> set-point.

        :param qpos: of the whole model, shape (nq,).
        :param position: of the tip in the world, m.
        """
        here = qpos[self._slots]
        with self._lock:
            rotation = self._rotation
            if rotation is None:
                rotation = self._rotation = self._solver.forward(qpos, here)[1]
            wanted = self._solver.solve(qpos, here, np.array(position), rotation)
        values = here + np.clip(wanted - here, -_LEAD, _LEAD)
        return {
            actuator.name: float(value) * actuator.gear
            for actuator, value in zip(self._tip.actuators, values, strict=True)
        }


__all__ = ['Tip', 'TipSolver', 'find_tips']
