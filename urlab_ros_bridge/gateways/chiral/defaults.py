# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What a profile leaves open, filled in from the robot alone."""

from __future__ import annotations

from dataclasses import replace

from urlab_ros_bridge.client.handshake import Handshake
from urlab_ros_bridge.gateways.chiral.errors import ProfileError
from urlab_ros_bridge.gateways.chiral.errors import RobotError
from urlab_ros_bridge.gateways.chiral.profile import ActionProfile
from urlab_ros_bridge.gateways.chiral.profile import CameraProfile
from urlab_ros_bridge.gateways.chiral.profile import Profile
from urlab_ros_bridge.gateways.chiral.profile import ProprioProfile
from urlab_ros_bridge.gateways.chiral.robot_model import Actuator
from urlab_ros_bridge.gateways.chiral.robot_model import RobotModel

NO_DEPTH = 'none'
AUTO = 'auto'
# Where robots begin, when nobody says it.
START_KEYFRAMES = ('home', 'stand', 'ready')
GRIPPER_WORDS = ('gripper', 'finger')


def choose_articulation(profile: Profile, handshake: Handshake) -> str:
    """
    Return the prefix of the robot that is served.

    :raises RobotError: when the world has no robot.
    """
    robots = handshake.articulations
    if profile.articulation:
        return profile.articulation
    if not robots:
        raise RobotError('the world has no robot: nothing can be served')
    return next(iter(robots))


def complete(profile: Profile, robot: RobotModel) -> Profile:
    """
    Return the profile with every list given and every name checked.

    :raises ProfileError: for what the robot has not.
    """
    cameras = profile.cameras if profile.cameras is not None else default_cameras(robot)
    proprio = profile.proprio if profile.proprio is not None else default_proprio(robot)
    done = replace(
        profile,
        articulation=robot.prefix,
        cameras=[_complete_camera(camera, robot, i) for i, camera in enumerate(cameras)],
        proprio=[replace(stream, name=stream.name or stream.kind) for stream in proprio],
        actions=profile.actions if profile.actions is not None else default_actions(robot),
        reset=replace(profile.reset, keyframe=profile.reset.keyframe or default_keyframe(robot)),
    )
    for what, names in (
        ('cameras', [camera.name for camera in done.cameras]),
        ('proprio', [stream.name for stream in done.proprio]),
    ):
        for name in names:
            if names.count(name) > 1:
                raise ProfileError(what, name, 'is the name of two entries')
    return done


def default_keyframe(robot: RobotModel) -> str:
    """Return the keyframe that episodes begin with, empty when the robot has none of those."""
    return next((name for name in START_KEYFRAMES if name in robot.keyframes), '')


def default_cameras(robot: RobotModel) -> list[CameraProfile]:
    """Return every colour camera, of the robot and then of the scene, with its depth."""
    known = {**robot.global_cameras, **robot.cameras}
    names = [*robot.cameras, *(n for n in robot.global_cameras if n not in robot.cameras)]
    return [CameraProfile(rgb=name) for name in names if known[name].mode == 'real']


def default_proprio(robot: RobotModel) -> list[ProprioProfile]:
    """Return joint positions and velocities, the base pose, and the opening of each gripper."""
    grippers = {a.name for a in robot.actuators.values() if is_gripper(a)}
    streams = []
    if robot.joints:
        streams += [
            ProprioProfile(name='joint_pos', kind='joint_position'),
            ProprioProfile(name='joint_vel', kind='joint_velocity'),
        ]
    if robot.free is not None:
        streams.append(ProprioProfile(name='base_pose', kind='base_pose'))
    streams += [
        ProprioProfile(name=name, kind='gripper', actuators=[name]) for name in sorted(grippers)
    ]
    return streams


def default_actions(robot: RobotModel) -> list[ActionProfile]:
    """Return parts for all actuators in their order; a driving base is one twist."""
    drives = robot.description.twist_controller is not None
    actions = [ActionProfile(kind='twist')] if drives else []
    for actuator in robot.actuators.values():
        if drives and actuator.kind == 'velocity':
            continue
        kind = _default_kind(actuator, robot.has_controller)
        last = actions[-1] if actions else None
        if kind == 'gripper' or (kind == 'actuator' and (last is None or last.kind != kind)):
            actions.append(ActionProfile(kind=kind, actuators=[actuator.name]))
        elif kind == 'actuator':
            last.actuators.append(actuator.name)
        elif last is not None and last.kind == kind:
            last.joints.append(actuator.joint)
        else:
            actions.append(ActionProfile(kind=kind, joints=[actuator.joint]))
    return actions


def is_gripper(actuator: Actuator) -> bool:
    """Return whether an actuator looks like that of a gripper: by its name, and with a range."""
    named = any(word in actuator.name.lower() for word in GRIPPER_WORDS)
    return named and actuator.kind == 'position' and actuator.low < actuator.high < float('inf')


def _default_kind(actuator: Actuator, controlled: bool) -> str:
    if is_gripper(actuator):
        return 'gripper'
    if not actuator.joint:
        return 'actuator'
    if controlled or actuator.kind in ('position', 'intvelocity'):
        return 'joint_position'
    known = {'velocity': 'joint_velocity', 'motor': 'joint_torque'}
    return known.get(actuator.kind, 'actuator')


def _complete_camera(camera: CameraProfile, robot: RobotModel, index: int) -> CameraProfile:
    where = f'cameras[{index}]'
    colour, _ = robot.camera(camera.rgb or camera.name)
    if colour.mode != 'real':
        raise ProfileError(f'{where}: rgb', colour.name, f'is a {colour.mode} camera')
    depth = camera.depth
    if depth == AUTO:
        depth = robot.aligned_depth(colour.name) or NO_DEPTH
    elif depth != NO_DEPTH:
        other, _ = robot.camera(depth)
        if other.mode != 'depth' or other.resolution != colour.resolution:
            raise ProfileError(
                f'{where}: depth', depth, f'is no depth camera of {colour.resolution} pixels'
            )
    return CameraProfile(camera.name or colour.name, colour.name, depth)
