# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Actuators from what the description says of its control.

The command interfaces of `<ros2_control>`, or else a position actuator for every joint that moves
by itself; a `<transmission>` of ROS 1 may say that it takes velocities, or nothing at all.
"""

from __future__ import annotations

from collections.abc import Mapping
import math
import xml.etree.ElementTree as ElementTree

import mujoco
import numpy as np

from urlab_ros_bridge.robot_import.fingers import finger_joints
from urlab_ros_bridge.robot_import.report import ImportReport
from urlab_ros_bridge.robot_import.spec import StartPose

POSITION, VELOCITY, EFFORT = INTERFACES = ('position', 'velocity', 'effort')
# The position loops of ROS 1 ran outside of the hardware, on an effort interface.
_TRANSMISSIONS = {
    'PositionJointInterface': POSITION,
    'EffortJointInterface': POSITION,
    'VelocityJointInterface': VELOCITY,
}
_MOVABLE = ('revolute', 'continuous', 'prismatic')
_GRAVITY = 9.81
# A position actuator is as stiff as its joint's inertia at this frequency (rad/s), and at least
# such that gravity or dry friction deflects it by no more than this (rad or m); kv makes the
# former critically damped.
_FREQUENCY, _SAG = 50.0, 0.02
# The speed (rad/s) that a wheel loses at most under the weight of the robot on its rim.
_DROOP = 0.02
# A finger presses with its whole effort at this part of its range before its setpoint.
_GRIP = 0.1
# A stiffer spring than (this / time step)^2 times the inertia would oscillate between two steps.
_STIFFEST = 0.5


def command_interfaces(
    robot: ElementTree.Element, driven: Mapping[str, str], report: ImportReport
) -> dict[str, str]:
    """
    Return the command interface of every joint that gets an actuator, by name.

    :param driven: those of the joints of a drive, '' for none.
    """
    movable = {
        joint.get('name', ''): POSITION
        for joint in robot.findall('joint')
        if joint.get('type') in _MOVABLE and joint.find('mimic') is None
    }
    chosen = _ros2_control(robot, report) or {**movable, **_transmissions(robot)}
    chosen.update(driven)
    return {name: chosen[name] for name in movable if chosen.get(name)}


def _ros2_control(robot: ElementTree.Element, report: ImportReport) -> dict[str, str]:
    found = {}
    for joint in robot.findall('ros2_control/joint'):
        name = joint.get('name', '')
        given = [item.get('name', '') for item in joint.findall('command_interface')]
        known = [interface for interface in INTERFACES if interface in given]
        if known:
            found[name] = known[0]
        if len(known) > 1:
            report.guessed(f'joint {name!r}', f'of its interfaces {known} the first is served')
    return found


def _transmissions(robot: ElementTree.Element) -> dict[str, str]:
    """Return the interface of every joint with a transmission, '' for one that is only read."""
    found: dict[str, str] = {}
    for joint in robot.findall('transmission/joint'):
        names = [
            (item.text or '').strip().rpartition('/')[2]
            for item in joint.findall('hardwareInterface')
        ]
        if names:
            known = [_TRANSMISSIONS[name] for name in names if name in _TRANSMISSIONS]
            found[joint.get('name', '')] = known[0] if known else ''
    return found


def initial_positions(robot: ElementTree.Element, report: ImportReport) -> dict[str, float]:
    """Return the initial positions of `<ros2_control>` by joint (m, rad)."""
    found = {}
    for joint in robot.findall('ros2_control/joint'):
        name = joint.get('name', '')
        for state in joint.findall("state_interface[@name='position']"):
            for param in state.findall("param[@name='initial_value']"):
                try:
                    value = float(param.text or 0.0)
                except ValueError:
                    value = math.nan
                if math.isfinite(value):
                    found[name] = value
                else:
                    problem = f'its initial_value {param.text!r} is not a finite number'
                    report.left_out(f'joint {name!r}', problem)
    return found


def add_actuators(
    spec: mujoco.MjSpec,
    robot: ElementTree.Element,
    model: mujoco.MjModel,
    pose: StartPose,
    interfaces: Mapping[str, str],
    wheels: Mapping[str, float],
) -> None:
    """
    Add an actuator, called as its joint, for every command interface.

    :param model: compiled from the same spec, with the base that it will have.
    :param wheels: radii (m) of those that stand on the ground, by joint.
    """
    fingers = finger_joints(robot)
    followers = _followers(robot)
    limits = {joint.get('name'): joint.find('limit') for joint in robot.findall('joint')}
    for name, interface in interfaces.items():
        actuator = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        joint = model.joint(name).id
        stiffness, rotor = servo(
            model, pose.data, joint, grip=_grip(model, joint) if name in fingers else 0.0
        )
        for moved in (name, *(followers.get(name, ()) if name in fingers else ())):
            spec.joint(moved).armature += rotor
        if interface == POSITION:
            actuator.set_to_position(kp=stiffness, kv=2 * stiffness / _FREQUENCY)
            limit = model.jnt_range[joint] if model.jnt_limited[joint] else None
        elif interface == VELOCITY:
            load = _weight(model, joint) * wheels.get(name, 0.0)
            actuator.set_to_velocity(kv=max(2 * stiffness / _FREQUENCY, load / _DROOP))
            limit = _both_ways(limits.get(name), 'velocity')
        else:
            actuator.set_to_motor()
            limit = _both_ways(limits[name], 'effort')
        if limit is not None:
            actuator.ctrllimited = mujoco.mjtLimited.mjLIMITED_TRUE
            actuator.ctrlrange = limit


def _followers(robot: ElementTree.Element) -> dict[str, list[str]]:
    """Return the joints that mimic each joint."""
    found: dict[str, list[str]] = {}
    for joint in robot.findall('joint'):
        for mimic in joint.findall('mimic'):
            found.setdefault(mimic.get('joint', ''), []).append(joint.get('name', ''))
    return found


def servo(
    model: mujoco.MjModel, data: mujoco.MjData, joint: int, *, grip: float = 0.0
) -> tuple[float, float]:
    """
    Return the stiffness of a position actuator, and the inertia of the rotor that it needs.

    A description has no rotors.  Where a light link has dry friction, a spring that is stiff
    enough for it would oscillate without one; the same holds for a finger that grips.

    :param grip: stiffness with which a finger grips (N/m), 0 for what is no finger.
    :return: N/m and kg, or N m/rad and kg m^2.
    """
    dof = model.jnt_dofadr[joint]
    inertia, friction = float(model.dof_M0[dof]), float(model.dof_frictionloss[dof])
    wanted = max(inertia * _FREQUENCY**2, _load(model, data, joint) / _SAG)
    highest = (_STIFFEST / model.opt.timestep) ** 2
    stiffness = max(min(wanted, inertia * highest), friction / _SAG, grip)
    return stiffness, max(stiffness / highest - inertia, 0.0)


def _grip(model: mujoco.MjModel, joint: int) -> float:
    """Return the stiffness (N/m) with which a finger presses with its whole effort."""
    low, high = model.jnt_range[joint]
    effort = float(model.jnt_actfrcrange[joint][1]) if model.jnt_actfrclimited[joint] else 0.0
    return effort / (_GRIP * float(high - low)) if high > low else 0.0


def _weight(model: mujoco.MjModel, joint: int) -> float:
    """Return the weight (N) of the robot that a joint belongs to."""
    return _GRAVITY * float(model.body_subtreemass[model.body_rootid[model.jnt_bodyid[joint]]])


def _load(model: mujoco.MjModel, data: mujoco.MjData, joint: int) -> float:
    """
    Return the largest force or torque of gravity on a joint, however the robot is turned.

    On a floating base a joint carries what is below it, or when that stands, everything else.
    """
    body = int(model.jnt_bodyid[joint])
    root = int(model.body_rootid[body])
    mass, centre = float(model.body_subtreemass[body]), data.subtree_com[body]
    sides = [(mass, centre)]
    rest = float(model.body_subtreemass[root]) - mass
    if model.body_dofnum[root] == 6 and rest > 0:
        whole = model.body_subtreemass[root] * data.subtree_com[root]
        sides.append((rest, (whole - mass * centre) / rest))
    if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE:
        return max(side for side, _ in sides) * _GRAVITY
    anchor, axis = data.xanchor[joint], data.xaxis[joint]
    arms = [weight * np.linalg.norm(np.cross(axis, com - anchor)) for weight, com in sides]
    return float(max(arms)) * _GRAVITY


def _both_ways(limit: ElementTree.Element | None, name: str) -> tuple[float, float] | None:
    """Return a limit of a joint in both directions, None when it has none."""
    value = 0.0 if limit is None else float(limit.get(name, 0.0))
    return (-value, value) if 0 < value < math.inf else None
