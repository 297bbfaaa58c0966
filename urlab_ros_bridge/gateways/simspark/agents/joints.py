# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The joints of a robot for its agent: angles in degrees out, speeds in rad/s in.

An effector has the name of its joint.  The perceptor of a Nao's joint has another one (``hj1``
for ``he1``), that of any other joint the same.  Two hinges of one body are a universal joint
with the name of the body.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import math
import re

import numpy as np

from urlab_ros_bridge.gateways.motion.target import Target
from urlab_ros_bridge.gateways.simspark.errors import BadCommand
from urlab_ros_bridge.gateways.simspark.world.stage import CYCLE
from urlab_ros_bridge.gateways.simulation.robot import ActuatedRobot
from urlab_ros_bridge.model import Actuator
from urlab_ros_bridge.model import Joint
from urlab_ros_bridge.wire.errors import UnknownName

# Highest speed of a joint of the Nao, rad/s (351.77 degrees a second).
MAX_SPEED = 6.1395
# Limit of the distance from joint to setpoint, for actuators of unknown strength, rad.
_SLACK = 0.35

_NAO = re.compile(r'(h|[lr][al])e([1-7])')


# Characters that an atom of a percept cannot have.
_NO_ATOM = re.compile(r'[^!#-\'*-~]')


def escape(name: str) -> str:
    """Return a name as an atom without quotes; other characters become underscores."""
    return _NO_ATOM.sub('_', name)


def perceptor_name(joint: str) -> str:
    """
    Return the name under which the angle of a joint is reported.

    >>> perceptor_name('lle3'), perceptor_name('FL_hip')
    ('llj3', 'FL_hip')
    """
    match = _NAO.fullmatch(joint)
    return f'{match[1]}j{match[2]}' if match else joint


class JointControl:
    """
    Turns the speeds that an agent commands into setpoints of its robot.

    SimSpark's motors keep a speed until the next command and hold their position at speed 0.  With
    a position actuator, the setpoint is the angle of a joint that has followed all commands
    exactly, at most as far from the actual angle as the actuator can pull.
    """

    def __init__(self, robot: ActuatedRobot, fastest: Mapping[str, float] | None = None) -> None:
        """
        Read the joints.

        :param fastest: joint -> its highest speed, rad/s; `MAX_SPEED` for others.
        """
        self._hinges = [joint for joint in robot.joints.values() if joint.kind == 'hinge']
        self._slots = np.array([joint.slot for joint in self._hinges], dtype=np.intp)
        self._index = {joint.name: place for place, joint in enumerate(self._hinges)}
        self._pairs = _universal(robot, self._hinges)
        self._text = self._template()
        by_joint = {each.joint: each for each in robot.actuators.values() if each.joint}
        driven = [
            (place, actuator, _control_kind(actuator, robot.has_controller))
            for place, joint in enumerate(self._hinges)
            if (actuator := by_joint.get(joint.name)) is not None
        ]
        self._driven = [(place, actuator.name, kind) for place, actuator, kind in driven if kind]
        self._effectors: dict[str, tuple[int, ...]] = {
            **{self._hinges[place].name: (place,) for place, _, _ in self._driven},
            **self._pairs,
        }
        self._low = np.array([joint.range[0] for joint in self._hinges])
        self._high = np.array([joint.range[1] for joint in self._hinges])
        count = len(self._hinges)
        self._speeds, self._wanted = np.zeros(count), np.zeros(count)
        self._lead, self._slack = np.zeros(count), np.full(count, _SLACK)
        self._gear, self._fastest = np.ones(count), np.full(count, MAX_SPEED)
        for name, speed in (fastest or {}).items():
            self._fastest[self._index[name]] = speed
        self._by_speed = np.zeros(count, dtype=bool)
        for place, actuator, kind in driven:
            self._by_speed[place] = kind == 'velocity'
            self._gear[place] = 1.0 if robot.has_controller else actuator.gear or 1.0
            if kind == 'velocity':
                self._fastest[place] = np.inf
            elif not robot.has_controller:
                self._lead[place], self._slack[place] = _strength(actuator, self._fastest[place])

    def start(self, qpos: np.ndarray) -> None:
        """Hold the current angles."""
        self._wanted[:] = qpos[self._slots]
        self._speeds[:] = 0.0

    def resume(self, other: JointControl) -> None:
        """Take over the speeds of the same robot in the replaced world."""
        for name, place in self._index.items():
            there = other._index.get(name)
            if there is not None:
                self._speeds[place] = other._speeds[there]

    def command(self, name: str, speeds: Sequence[float]) -> None:
        """
        Set the speed of a hinge, or the two speeds of a universal joint, rad/s.

        :raises UnknownName: when the robot has no such effector.
        :raises BadCommand: for the wrong number of speeds.
        """
        places = self._effectors.get(name)
        if places is None:
            raise UnknownName('effector', name, list(self._effectors))
        if len(places) != len(speeds):
            raise BadCommand(f'{name} takes {len(places)} speeds, not {len(speeds)}')
        for place, speed in zip(places, speeds, strict=True):
            fastest = self._fastest[place]
            self._speeds[place] = min(max(speed, -fastest), fastest)

    def advance(self, qpos: np.ndarray, seconds: float = CYCLE) -> Target:
        """
        Return the setpoints of the next cycle.

        :param qpos: current one of the articulation.
        :param seconds: length of the cycle; longer when the gateway is late.
        """
        now = qpos[self._slots]
        wanted = self._wanted
        wanted += self._speeds * seconds
        slack = self._slack * max(seconds / CYCLE, 1.0)
        np.clip(wanted, now - slack, now + slack, out=wanted)
        np.clip(wanted, self._low, self._high, out=wanted)
        ctrl = (wanted + self._speeds * self._lead) * self._gear
        ctrl[self._by_speed] = (self._speeds * self._gear)[self._by_speed]
        values = ctrl.tolist()
        return Target({name: values[place] for place, name, _ in self._driven})

    def percepts(self, qpos: np.ndarray) -> str:
        """Return HJ and UJ of all joints; angles in degrees."""
        return self._text % tuple(np.degrees(qpos[self._slots])[self._order].tolist())

    def _template(self) -> str:
        paired = {place for places in self._pairs.values() for place in places}
        parts, order = [], []
        for place, joint in enumerate(self._hinges):
            if place not in paired:
                parts.append(f'(HJ (n {_in_template(perceptor_name(joint.name))}) (ax %.3f))')
                order.append(place)
        for name, places in self._pairs.items():
            parts.append(f'(UJ (n {_in_template(name)}) (ax1 %.3f) (ax2 %.3f))')
            order += places
        self._order = np.array(order, dtype=np.intp)
        return ''.join(parts)


def _in_template(name: str) -> str:
    return escape(name).replace('%', '%%')


def _universal(robot: ActuatedRobot, hinges: Sequence[Joint]) -> dict[str, tuple[int, int]]:
    by_body: dict[int, list[int]] = {}
    for place, joint in enumerate(hinges):
        by_body.setdefault(joint.body, []).append(place)
    return {
        body.name: (places[0], places[1])
        for body in robot.bodies.values()
        if len(places := by_body.get(body.id, [])) == 2
    }


def _control_kind(actuator: Actuator, has_controller: bool) -> str:
    """Return what an actuator controls: ``position``, ``velocity``, or '' for anything else."""
    if has_controller or actuator.kind == 'position':
        return 'position'
    return 'velocity' if actuator.kind == 'velocity' else ''


def _strength(actuator: Actuator, fastest: float) -> tuple[float, float]:
    """
    Return lead (s) and slack (rad) of a position actuator whose joint moves at most so fast.

    With the stiffness k and the damping d a light joint approaches its setpoint with the time
    constant d / k.  Led by the speed times the lead it arrives at the end of the cycle where a
    motor with that speed would be.
    """
    stiffness = actuator.gain_params[0] if actuator.gain_params else 0.0
    damping = -actuator.bias_params[2] if len(actuator.bias_params) > 2 else 0.0
    strongest = actuator.force_range[1]
    if not stiffness > 0:
        return 0.0, _SLACK
    slack = _SLACK
    if math.isfinite(strongest):
        slack = strongest / stiffness + fastest * CYCLE
    if not damping > 0:
        return 0.0, slack
    return -CYCLE / math.expm1(-CYCLE * stiffness / damping) - CYCLE, slack


__all__ = ['MAX_SPEED', 'JointControl', 'escape', 'perceptor_name']
