# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Proprioception: streams of float32 made from one observation of the server."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from urlab_ros_bridge.client.results import ArticulationState
from urlab_ros_bridge.gateways.chiral.errors import ProfileError
from urlab_ros_bridge.gateways.chiral.parts import Scene
from urlab_ros_bridge.gateways.chiral.profile import Profile
from urlab_ros_bridge.gateways.chiral.profile import ProprioProfile
from urlab_ros_bridge.gateways.chiral.robot_model import RobotModel
from urlab_ros_bridge.gateways.chiral.rotation import from_matrix
from urlab_ros_bridge.gateways.chiral.target import Target
from urlab_ros_bridge.wire.errors import UnknownName

Stream: TypeAlias = Callable[[ArticulationState, Scene, Target], np.ndarray]


def make_streams(profile: Profile, robot: RobotModel) -> dict[str, Stream]:
    """
    Return the readers of a completed profile, by the name of the stream.

    :raises ProfileError: for a stream that the robot cannot give.
    :raises UnknownName: for a joint, actuator, site or sensor that there is not.
    """
    return {
        stream.name: _make(stream, profile, robot, f'proprio[{i}]')
        for i, stream in enumerate(profile.proprio or [])
    }


def needs_forces(profile: Profile) -> bool:
    """Return whether a stream needs actuator forces, which only the fullest observations hold."""
    return any(stream.kind == 'joint_torque' for stream in profile.proprio or [])


def _make(stream: ProprioProfile, profile: Profile, robot: RobotModel, where: str) -> Stream:
    kind = stream.kind
    if kind == 'joint_position':
        slots = np.array([joint.slot for joint in robot.need_joints(stream.joints)], np.intp)
        return lambda state, scene, target: state.qpos[slots]
    if kind == 'joint_velocity':
        dofs = np.array([joint.dof for joint in robot.need_joints(stream.joints)], np.intp)
        return lambda state, scene, target: state.qvel[dofs]
    if kind == 'joint_torque':
        return _torques(stream, robot)
    if kind == 'joint_target':
        names = [a.name for a in robot.actuators_of(robot.need_joints(stream.joints))]
        return lambda state, scene, target: np.array([target.ctrl.get(n, 0.0) for n in names])
    if kind == 'gripper':
        return _gripper(stream, robot, where)
    if kind == 'sensor':
        if stream.sensor not in robot.sensors:
            raise UnknownName('sensor', stream.sensor, robot.sensors)
        return lambda state, scene, target: state.sensors[stream.sensor]
    if kind == 'base_pose':
        if robot.free is None:
            raise ProfileError(where, kind, 'needs a free base; this robot stands fixed')
        first, last = robot.free, robot.free + 7
        return lambda state, scene, target: state.qpos[first:last]
    if not stream.site:
        raise ProfileError(where, kind, 'names no site', [*robot.sites, *robot.bodies])
    return _pose(stream, profile, robot)


def _torques(stream: ProprioProfile, robot: RobotModel) -> Stream:
    joints = robot.need_joints(stream.joints)
    matrix = np.zeros((len(joints), len(robot.actuators)))
    for row, joint in enumerate(joints):
        for actuator in robot.actuators.values():
            if actuator.joint == joint.name:
                matrix[row, actuator.index] = actuator.gear
    return lambda state, scene, target: matrix @ state.actuator_force


def _gripper(stream: ProprioProfile, robot: RobotModel, where: str) -> Stream:
    actuators = robot.need_actuators(stream.actuators or [])
    if not actuators:
        raise ProfileError(where, 'gripper', 'names no actuators', robot.actuators)
    first = actuators[0]
    joint = robot.joints.get(first.joint)
    if joint is None or not np.isfinite([first.low, first.high]).all():
        raise ProfileError(where, first.name, 'drives no single joint, or has no range')
    span = first.high - first.low or 1.0

    def read(state: ArticulationState, scene: Scene, target: Target) -> np.ndarray:
        return np.array([(state.qpos[joint.slot] * first.gear - first.low) / span])

    return read


def _pose(stream: ProprioProfile, profile: Profile, robot: RobotModel) -> Stream:
    there = robot.body_or_site(stream.site)
    base = robot.body_or_site(stream.reference or profile.reference or robot.base)

    def read(state: ArticulationState, scene: Scene, target: Target) -> np.ndarray:
        position, rotation = scene.pose(*there)
        origin, axes = scene.pose(*base)
        turn = from_matrix(axes.T @ rotation, stream.rotation)
        return np.concatenate((axes.T @ (position - origin), turn))

    return read
