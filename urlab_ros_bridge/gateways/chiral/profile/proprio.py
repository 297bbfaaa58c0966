# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Proprioception: float32 streams computed from one observation of the server."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from urlab_ros_bridge.client.replies.observations import ArticulationState
from urlab_ros_bridge.gateways.chiral.errors import profile_key
from urlab_ros_bridge.gateways.chiral.errors import ProfileError
from urlab_ros_bridge.gateways.chiral.profile.profile import Profile
from urlab_ros_bridge.gateways.chiral.profile.profile import ProprioProfile
from urlab_ros_bridge.gateways.chiral.profile.rotations import from_matrix
from urlab_ros_bridge.gateways.motion.target import Target
from urlab_ros_bridge.gateways.simulation.robot import ActuatedRobot
from urlab_ros_bridge.gateways.simulation.scene import MirroredScene
from urlab_ros_bridge.wire.errors import UnknownName

Stream: TypeAlias = Callable[[ArticulationState, MirroredScene, Target], np.ndarray]


def make_streams(profile: Profile, robot: ActuatedRobot) -> dict[str, Stream]:
    """
    Return the readers of a completed profile, by the name of the stream.

    :raises ProfileError: for a stream that the robot cannot give.
    """
    streams = {}
    for i, stream in enumerate(profile.proprio or []):
        with profile_key(f'proprio[{i}]'):
            streams[stream.name] = _make_stream(stream, profile, robot, f'proprio[{i}]')
    return streams


def needs_forces(profile: Profile) -> bool:
    """Return whether a stream needs actuator forces, which only the fullest observations hold."""
    return any(stream.kind == 'joint_torque' for stream in profile.proprio or [])


def _make_stream(
    stream: ProprioProfile, profile: Profile, robot: ActuatedRobot, path: str
) -> Stream:
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
        return _gripper(stream, robot, path)
    if kind == 'sensor':
        if stream.sensor not in robot.sensors:
            raise UnknownName('sensor', stream.sensor, robot.sensors)
        return lambda state, scene, target: state.sensors[stream.sensor]
    if kind == 'base_pose':
        if robot.free is None:
            raise ProfileError.unfit(
                f'{path}.kind', kind, 'needs a free base; this robot is fixed'
            )
        first, last = robot.free, robot.free + 7
        return lambda state, scene, target: state.qpos[first:last]
    if not stream.site:
        raise ProfileError.unfit(
            f'{path}.site', stream.site, 'names no site', [*robot.sites, *robot.bodies]
        )
    return _pose(stream, profile, robot)


def _torques(stream: ProprioProfile, robot: ActuatedRobot) -> Stream:
    joints = robot.need_joints(stream.joints)
    matrix = np.zeros((len(joints), len(robot.actuators)))
    for row, joint in enumerate(joints):
        for actuator in robot.actuators.values():
            if actuator.joint == joint.name:
                matrix[row, actuator.index] = actuator.gear
    return lambda state, scene, target: matrix @ state.actuator_force


def _gripper(stream: ProprioProfile, robot: ActuatedRobot, path: str) -> Stream:
    actuators = robot.need_actuators(stream.actuators or [])
    if not actuators:
        raise ProfileError.unfit(
            f'{path}.actuators', stream.actuators, 'names no actuators', robot.actuators
        )
    first = actuators[0]
    joint = robot.joints.get(first.joint)
    if joint is None or not np.isfinite([first.low, first.high]).all():
        raise ProfileError.unfit(path, first.name, 'drives no single joint, or has no range')
    span = first.high - first.low or 1.0

    def read(state: ArticulationState, scene: MirroredScene, target: Target) -> np.ndarray:
        return np.array([(state.qpos[joint.slot] * first.gear - first.low) / span])

    return read


def _pose(stream: ProprioProfile, profile: Profile, robot: ActuatedRobot) -> Stream:
    there = robot.frame(stream.site)
    base = robot.frame(stream.reference or profile.reference or robot.base_name)

    def read(state: ArticulationState, scene: MirroredScene, target: Target) -> np.ndarray:
        position, rotation = scene.pose(*there)
        origin, axes = scene.pose(*base)
        turn = from_matrix(axes.T @ rotation, stream.rotation)
        return np.concatenate((axes.T @ (position - origin), turn))

    return read
