# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Gyro, accelerometer, and forces on feet and bumpers."""

from __future__ import annotations

import math

import numpy as np

from urlab_ros_bridge.client.replies.observations import ArticulationState
from urlab_ros_bridge.gateways.simspark.agents.frames import body_frame
from urlab_ros_bridge.gateways.simspark.agents.frames import FixedFrame
from urlab_ros_bridge.gateways.simspark.agents.frames import site_frame
from urlab_ros_bridge.gateways.simspark.agents.frames import to_body_axes
from urlab_ros_bridge.gateways.simspark.agents.joints import escape
from urlab_ros_bridge.gateways.simspark.world.scene import SimSparkScene
from urlab_ros_bridge.gateways.simulation.robot import ActuatedRobot
from urlab_ros_bridge.geometry import quaternion_of_matrix
from urlab_ros_bridge.geometry import rotation_vector
from urlab_ros_bridge.model import Sensor

# A contact sensor NAME_contact with data="found force pos" of a net force is the foot NAME.
_FOOT = '_contact'
_FOOT_VALUES = 7
# A robot that has turned further in a cycle was teleported, rad.
_MOST_TURN = 1.0


class BodySensors:
    """
    GYR, ACC, FRP and TCH of one robot.

    The first gyro and the first accelerometer of the robot count as those of the torso.  For a
    floating base both are means over a cycle, from the differences of velocity and orientation:
    the shock of a foot that strikes the ground lasts some milliseconds only, and agents integrate
    the readings.  SimSpark's physics, with one step a cycle, reports means too.
    """

    def __init__(self, robot: ActuatedRobot) -> None:
        self._base = body_frame(robot.base.id)
        self._free = None if robot.base_joint is None else robot.base_joint.dof
        self._before: tuple[float, np.ndarray] | None = None
        self._turned: tuple[float, np.ndarray] | None = None
        self._gyro = _first(robot, 'gyro')
        self._accelerometer = _first(robot, 'accelerometer')
        self._feet = [
            (name, escape(name.removesuffix(_FOOT)), frame)
            for name, sensor in robot.sensors.items()
            if (frame := _foot_frame(robot, name, sensor)) is not None
        ]
        felt = {frame.body for _, _, frame in self._feet}
        self._bumpers = [
            (name, escape(name))
            for name, sensor in robot.sensors.items()
            if sensor.kind == 'touch' and _body_of(robot, sensor) not in felt
        ]

    def percepts(self, scene: SimSparkScene, state: ArticulationState) -> str:
        """Return the percepts of a scene."""
        parts = []
        readings = state.sensors
        if self._gyro is not None and self._gyro[0] in readings:
            rates = self._mean_rates(scene)
            if rates is None:
                rates = self._in_torso(scene, self._gyro[1], readings[self._gyro[0]])
            parts.append(f'(GYR (n torso) (rt {_numbers(np.degrees(rates))}))')
        if self._accelerometer is not None and self._accelerometer[0] in readings:
            felt = self._mean_acceleration(scene, state.qvel)
            if felt is None:
                name, frame = self._accelerometer
                felt = self._in_torso(scene, frame, readings[name])
            parts.append(f'(ACC (n torso) (a {_numbers(felt)}))')
        parts += [
            _force(scene, foot, frame, readings[name])
            for name, foot, frame in self._feet
            if name in readings and readings[name][0] > 0
        ]
        parts += [
            f'(TCH n {shown} val {int(readings[name][0] > 0)})'
            for name, shown in self._bumpers
            if name in readings
        ]
        return ''.join(parts)

    def _mean_rates(self, scene: SimSparkScene) -> np.ndarray | None:
        """Return the mean rates of turn since the last percepts, rad/s, None if not known."""
        if self._free is None:
            return None
        now = np.array(self._base.axes(scene))
        before, self._turned = self._turned, (scene.time, now)
        if before is None or not scene.time > before[0]:
            return None
        turn = rotation_vector(quaternion_of_matrix(before[1].T @ now))
        if math.hypot(*turn) > _MOST_TURN:
            return None
        return to_body_axes(np.array(turn) / (scene.time - before[0]))

    def _mean_acceleration(self, scene: SimSparkScene, qvel: np.ndarray) -> np.ndarray | None:
        """Return the proper acceleration since the last percepts, None where it is not known."""
        if self._free is None:
            return None
        velocity = np.array(qvel[self._free : self._free + 3])
        before, self._before = self._before, (scene.time, velocity)
        if before is None or not scene.time > before[0]:
            return None
        mean = (velocity - before[1]) / (scene.time - before[0]) - scene.gravity
        return to_body_axes(self._base.axes(scene).T @ mean)

    def _in_torso(
        self, scene: SimSparkScene, frame: FixedFrame, reading: np.ndarray
    ) -> np.ndarray:
        """Turn a reading from the axes of its site to those of the torso."""
        in_world = frame.axes(scene) @ reading
        return to_body_axes(self._base.axes(scene).T @ in_world)


def _force(scene: SimSparkScene, name: str, frame: FixedFrame, reading: np.ndarray) -> str:
    """Return the FRP of a foot: point and force of its contact, in its own axes."""
    axes = frame.axes(scene)
    where = to_body_axes(axes.T @ (reading[4:7] - frame.position(scene)))
    # The sensor reports the force that the foot exerts.
    force = to_body_axes(axes.T @ -reading[1:4])
    return f'(FRP (n {name}) (c {_numbers(where)}) (f {_numbers(force)}))'


def _numbers(vector: np.ndarray) -> str:
    x, y, z = vector.tolist()
    return f'{x:.3f} {y:.3f} {z:.3f}'


def _first(robot: ActuatedRobot, kind: str) -> tuple[str, FixedFrame] | None:
    for name, sensor in robot.sensors.items():
        if sensor.kind == kind and sensor.object_kind == 'site':
            frame = _frame_of(robot, sensor)
            if frame is not None:
                return name, frame
    return None


def _frame_of(robot: ActuatedRobot, sensor: Sensor) -> FixedFrame | None:
    names = (name for name, site in robot.sites.items() if site.id == sensor.object_id)
    name = next(names, None)
    return None if name is None else site_frame(robot, name)


def _body_of(robot: ActuatedRobot, sensor: Sensor) -> int:
    frame = _frame_of(robot, sensor) if sensor.object_kind == 'site' else None
    return -1 if frame is None else frame.body


def _foot_frame(robot: ActuatedRobot, name: str, sensor: Sensor) -> FixedFrame | None:
    """Return the frame of a foot: the site with its name, else the body of the sensor."""
    if sensor.kind != 'contact' or sensor.dim != _FOOT_VALUES or not name.endswith(_FOOT):
        return None
    frame = site_frame(robot, name.removesuffix(_FOOT))
    if frame is None and sensor.object_kind in ('body', 'xbody'):
        frame = body_frame(sensor.object_id)
    return frame


__all__ = ['BodySensors']
