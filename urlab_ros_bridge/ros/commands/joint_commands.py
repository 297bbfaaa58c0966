# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Setpoints by joint or actuator name, and plain arrays as ros2_controllers' forward controllers.

``joint_commands`` is what topic_based_ros2_control publishes: a JointState with the field that the
joint takes.  NaN in it means no command for this joint.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Hashable
from collections.abc import Iterable
from collections.abc import Mapping
import math
from typing import Any

from sensor_msgs.msg import JointState

from urlab_ros_bridge.ros.commands.admission.arbitration import Arbiter
from urlab_ros_bridge.ros.commands.admission.arbitration import BASE
from urlab_ros_bridge.ros.commands.admission.arbitration import JOINT_COMMANDS
from urlab_ros_bridge.ros.commands.admission.limits import CommandRejected
from urlab_ros_bridge.ros.commands.path import CommandPath
from urlab_ros_bridge.ros.commands.setpoints import command_field
from urlab_ros_bridge.ros.commands.setpoints import Setpoints
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.wire.errors import list_names
from urlab_ros_bridge.wire.names import known_name

FIELDS = ('position', 'velocity', 'effort')


def setpoints(message: JointState, plan: RobotPlan) -> dict[int, float]:
    """
    Turn a message into setpoints by index of the actuator; joints with NaN are left out.

    :raises CommandRejected: for an unknown name, infinity, nothing but NaN, a field of another
        length than `name`, or when the field that an actuator takes is empty.
    """
    fields = {field: getattr(message, field) for field in FIELDS}
    for field, values in fields.items():
        if len(values) not in (0, len(message.name)):
            raise CommandRejected(
                f'{field} has {len(values)} values for {len(message.name)} names'
            )
    found: dict[int, float] = {}
    for place, name in enumerate(message.name):
        for index in _actuators_of(name, plan):
            field = command_field(plan.actuators[index], plan.has_controller)
            if not len(fields[field]):
                raise CommandRejected(f'{name} takes {field}, which is empty')
            value = float(fields[field][place])
            if math.isinf(value):
                raise CommandRejected(f'{field} of {name} is {value}')
            if not math.isnan(value):
                found[index] = value
    if message.name and not found:
        raise CommandRejected(f'all values are nan ({", ".join(message.name)})')
    return found


def array_setpoints(data: Iterable[float], indices: Iterable[int], field: str) -> dict[int, float]:
    """
    Turn the values of a forward controller into setpoints by index of the actuator.

    :raises CommandRejected: for another number of values, or one that is not finite.
    """
    values, indices = [float(value) for value in data], tuple(indices)
    if len(values) != len(indices):
        raise CommandRejected(
            f'{len(values)} values for {len(indices)} actuators that take {field}'
        )
    if not all(map(math.isfinite, values)):
        raise CommandRejected(f'a {field} is not finite: {values}')
    return dict(zip(indices, values, strict=True))


def _actuators_of(name: str, plan: RobotPlan) -> Iterable[int]:
    known = {part for actuator in plan.actuators for part in (actuator.joint, actuator.name)}
    name = known_name(name, plan.prefix, known)
    by_joint = [index for index, actuator in enumerate(plan.actuators) if actuator.joint == name]
    found = by_joint or [
        index for index, actuator in enumerate(plan.actuators) if actuator.name == name
    ]
    if not found:
        names = dict.fromkeys(actuator.joint or actuator.name for actuator in plan.actuators)
        raise CommandRejected(f'no actuator moves {name!r}; {list_names("joint", names)}')
    return found


class JointCommands:
    """Commands for one robot; messages come in the executor's thread."""

    def __init__(
        self, topic: str, path: CommandPath, setpoints: Setpoints, arbiter: Arbiter
    ) -> None:
        self.topic = topic
        self._setpoints = setpoints
        self._arbiter = arbiter
        self._path = path

    def indices(self, field: str) -> tuple[int, ...]:
        """Return the actuators that take a field, in order."""
        return tuple(index for index, taken in enumerate(self._setpoints.fields) if taken == field)

    def receive(self, message: JointState, stale: str = '') -> None:
        """
        Take a message.

        :param stale: why it is too old, empty when it is not; positions and zeros are never.
        """
        self._accept_command(self.topic, lambda: setpoints(message, self._setpoints.plan), stale)

    def forward(self, field: str, topic: str) -> Callable[..., None]:
        """Return what takes the Float64MultiArray of a forward controller, as `receive`."""
        indices = self.indices(field)

        def receive(message: Any, stale: str = '') -> None:
            self._accept_command(
                topic, lambda: array_setpoints(message.data, indices, field), stale
            )

        return receive

    def _accept_command(
        self, topic: str, read: Callable[[], Mapping[int, float]], stale: str
    ) -> None:
        sink = self._setpoints
        try:
            problem = sink.problem()
            if problem:
                raise CommandRejected(problem)
            wanted = read()
            if stale and sink.moves(wanted):
                raise CommandRejected(stale)
            parts: set[Hashable] = set(wanted)
            if sink.plan.drives and any(sink.fields[index] == 'velocity' for index in wanted):
                # These may be the wheels.
                parts.add(BASE)
            self._arbiter.claim(JOINT_COMMANDS, parts, self._path.now_ns)
        except CommandRejected as error:
            self._path.reject(topic, error)
            return
        sink.write(wanted, live=True)


TOPICS = (
    Topic(
        '{robot}/joint_commands',
        ('sensor_msgs/msg/JointState',),
        'command',
        'actuators',
        incoming=True,
    ),
    Topic(
        '{robot}/forward_{field}_controller/commands',
        ('std_msgs/msg/Float64MultiArray',),
        'command',
        'actuators that take position, velocity or effort',
        incoming=True,
    ),
)
FEATURE = Feature('joint commands', topics=TOPICS)
