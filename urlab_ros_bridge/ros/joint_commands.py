# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
joint_commands of one robot: set-points by joint or actuator name.

A stock server in live mode honours only a whole vector of set-points, so the last value of every
actuator is kept here and sent again.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
import math
import threading

from sensor_msgs.msg import JointState

from urlab_ros_bridge.ros.connection import Link
from urlab_ros_bridge.ros.limits import Refused
from urlab_ros_bridge.ros.plan import Actuator
from urlab_ros_bridge.ros.plan import RobotPlan
from urlab_ros_bridge.ros.refusals import Refusals
from urlab_ros_bridge.ros.sender import CommandSender
from urlab_ros_bridge.wire.errors import list_names

# What an actuator's set-point is; all other types take a force or torque.
_FIELD_OF_TYPE = {
    'position': 'position',
    'velocity': 'velocity',
    'intvelocity': 'velocity',
    'damper': 'velocity',
}


def command_field(actuator: Actuator, has_controller: bool) -> str:
    """
    Return which field of JointState an actuator takes: position, velocity or effort.

    A joint controller of the server takes positions, whatever the actuator.

    >>> command_field(Actuator('hip', 'motor', 'hip'), has_controller=False)
    'effort'
    """
    if has_controller and actuator.joint:
        return 'position'
    return _FIELD_OF_TYPE.get(actuator.kind, 'effort')


def setpoints(message: JointState, plan: RobotPlan) -> dict[int, float]:
    """
    Turn a message into set-points by index of the actuator.

    :raises Refused: for an unknown name, NaN, a field of another length than `name`, or when the
        field that an actuator takes is empty.
    """
    fields = {'position': message.position, 'velocity': message.velocity, 'effort': message.effort}
    for field, values in fields.items():
        if len(values) not in (0, len(message.name)):
            raise Refused(f'{field} has {len(values)} values for {len(message.name)} names')
    found: dict[int, float] = {}
    for place, name in enumerate(message.name):
        for index in _actuators_of(name.removeprefix(f'{plan.prefix}_'), plan):
            actuator = plan.actuators[index]
            field = command_field(actuator, plan.has_controller)
            if not len(fields[field]):
                raise Refused(f'{name} takes {field}, which is empty')
            value = float(fields[field][place])
            if not math.isfinite(value):
                raise Refused(f'{field} of {name} is {value}')
            found[index] = value
    return found


def _actuators_of(name: str, plan: RobotPlan) -> Iterable[int]:
    by_joint = [index for index, actuator in enumerate(plan.actuators) if actuator.joint == name]
    found = by_joint or [
        index for index, actuator in enumerate(plan.actuators) if actuator.name == name
    ]
    if not found:
        names = dict.fromkeys(actuator.joint or actuator.name for actuator in plan.actuators)
        raise Refused(f'no actuator moves {name!r}; {list_names("joint", names)}')
    return found


class JointCommands:
    """Commands for one robot; messages come in the executor's thread."""

    def __init__(
        self, plan: RobotPlan, topic: str, link: Link, sender: CommandSender, refusals: Refusals
    ) -> None:
        self.topic = topic
        self._plan = plan
        self._link = link
        self._sender = sender
        self._refusals = refusals
        self._lock = threading.Lock()
        self._wanted: dict[int, float] = {}
        self._values: list[float] | None = None

    def receive(self, message: JointState) -> None:
        """Take a message."""
        try:
            if not self._link.state.connected:
                raise Refused('not connected')
            # Elsewhere a step request would move time.
            if self._link.state.mode not in ('live', ''):
                raise Refused(f'needs live mode, the server is in {self._link.state.mode} mode')
            wanted = setpoints(message, self._plan)
        except Refused as error:
            self._refusals.add(self.topic, error)
            return
        with self._lock:
            self._wanted.update(wanted)
        self._sender.put(self.topic, self._send)

    def clear(self) -> None:
        """Forget the set-points: after a reset they are the server's."""
        with self._lock:
            self._wanted.clear()
            self._values = None

    def _send(self) -> None:
        values = self._values or self._present()
        with self._lock:
            for index, value in self._wanted.items():
                values[index] = value
            self._wanted.clear()
            self._values = values
        self._link.commands.step(
            ctrl={self._plan.prefix: values}, timeout=self._link.commands.timeout
        )

    def _present(self) -> list[float]:
        """Return set-points that change nothing: in live mode `step` only reads."""
        plan = self._plan
        state = self._link.commands.step().articulations.get(plan.prefix)
        if state is None:
            raise Refused(f'the server does not tell the state of {plan.prefix}')
        ctrl: Sequence[float] = state.ctrl.tolist()
        if len(ctrl) != len(plan.actuators):
            ctrl = [0.0] * len(plan.actuators)
        if not plan.has_controller:
            return list(ctrl)
        # With a controller `ctrl` is its output; its input that holds still is where the joint is.
        slots = dict(zip(plan.joints, plan.qpos, strict=False))
        return [
            float(state.qpos[slots[actuator.joint]]) if actuator.joint in slots else value
            for actuator, value in zip(plan.actuators, ctrl, strict=True)
        ]
