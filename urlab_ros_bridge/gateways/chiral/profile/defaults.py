# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Defaults of a profile, filled in from the robot alone."""

from __future__ import annotations

from dataclasses import replace

from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.gateways.chiral.errors import profile_key
from urlab_ros_bridge.gateways.chiral.errors import ProfileError
from urlab_ros_bridge.gateways.chiral.profile.cameras import CameraTable
from urlab_ros_bridge.gateways.chiral.profile.profile import ActionProfile
from urlab_ros_bridge.gateways.chiral.profile.profile import CameraProfile
from urlab_ros_bridge.gateways.chiral.profile.profile import Profile
from urlab_ros_bridge.gateways.chiral.profile.profile import ProprioProfile
from urlab_ros_bridge.gateways.errors import RobotError
from urlab_ros_bridge.gateways.simulation.robot import ActuatedRobot
from urlab_ros_bridge.model import Actuator

NO_DEPTH = 'none'
AUTO = 'auto'
# Keyframes for the start of an episode, in order of preference.
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
        raise RobotError('the world has no robot to serve')
    return next(iter(robots))


def complete(profile: Profile, robot: ActuatedRobot, cameras: CameraTable) -> Profile:
    """
    Return the profile with every list given and every name checked.

    :raises ProfileError: for anything that the robot lacks.
    """
    chosen = profile.cameras if profile.cameras is not None else default_cameras(cameras)
    proprio = profile.proprio if profile.proprio is not None else default_proprio(robot)
    done = replace(
        profile,
        articulation=robot.prefix,
        cameras=[_complete_camera(camera, cameras, i) for i, camera in enumerate(chosen)],
        proprio=[replace(stream, name=stream.name or stream.kind) for stream in proprio],
        actions=profile.actions if profile.actions is not None else default_actions(robot),
        reset=replace(profile.reset, keyframe=profile.reset.keyframe or default_keyframe(robot)),
    )
    for what, names in (
        ('cameras', [camera.name for camera in done.cameras or []]),
        ('proprio', [stream.name for stream in done.proprio or []]),
    ):
        for name in names:
            if names.count(name) > 1:
                raise ProfileError.unfit(what, name, 'is the name of two entries')
    return done


def default_keyframe(robot: ActuatedRobot) -> str:
    """Return the keyframe that episodes begin with, empty when the robot has none of those."""
    return next((name for name in START_KEYFRAMES if name in robot.keyframes), '')


def default_cameras(cameras: CameraTable) -> list[CameraProfile]:
    """Return every colour camera, of the robot and then of the scene, with its depth."""
    return [CameraProfile(rgb=name) for name in cameras.names if cameras.find(name).mode == 'real']


def default_proprio(robot: ActuatedRobot) -> list[ProprioProfile]:
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


def default_actions(robot: ActuatedRobot) -> list[ActionProfile]:
    """
    Return parts for all actuators in their order; a base on wheels is one twist.

    Legs are controlled by their joints, although a twist could move them: a policy can do more.
    """
    wheels = _wheels(robot)
    actions = [] if wheels is None else [ActionProfile(kind='twist')]
    for actuator in robot.actuators.values():
        if wheels is not None and actuator.name in wheels:
            continue
        kind = _default_kind(actuator, robot.has_controller)
        last = actions[-1] if actions else None
        if last is None or last.kind != kind or kind == 'gripper':
            last = ActionProfile(kind)
            actions.append(last)
        if kind in ('gripper', 'actuator'):
            last.actuators = [*(last.actuators or []), actuator.name]
        else:
            last.joints = [*(last.joints or []), actuator.joint]
    return actions


def _wheels(robot: ActuatedRobot) -> frozenset[str] | None:
    """Return the actuators of a base that a twist drives, None where it drives none."""
    twist = robot.description.twist_controller
    if twist is None or not twist.drives:
        return None
    turning = {name for name, each in robot.actuators.items() if each.kind == 'velocity'}
    if twist.actuators is None:  # a server that does not tell
        return frozenset(turning)
    return frozenset(twist.actuators) if turning.issuperset(twist.actuators) else None


def is_gripper(actuator: Actuator) -> bool:
    """Return whether an actuator is that of a gripper, judged by its name and range."""
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


def _complete_camera(camera: CameraProfile, cameras: CameraTable, index: int) -> CameraProfile:
    path = f'cameras[{index}]'
    name = camera.rgb or camera.name
    with profile_key(f'{path}.rgb'):
        colour = cameras.find(name)
    if colour.mode != 'real':
        raise ProfileError.unfit(f'{path}.rgb', name, f'is a {colour.mode} camera')
    depth = camera.depth
    if depth == AUTO:
        depth = cameras.aligned_depth(name) or NO_DEPTH
    elif depth != NO_DEPTH:
        with profile_key(f'{path}.depth'):
            other = cameras.find(depth)
        if other.mode != 'depth' or other.resolution != colour.resolution:
            raise ProfileError.unfit(
                f'{path}.depth',
                depth,
                f'is not a depth camera of {colour.resolution[0]} x {colour.resolution[1]} pixels',
            )
    return CameraProfile(camera.name or name, name, depth)
