# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Setpoints by joint or actuator name, and plain arrays as ros2_controllers' forward controllers.

``joint_commands`` takes what JointStateTopicSystem of ros2_control publishes: a JointState that
names every joint of its block, and has values for the command interfaces of the block only.
"""

from __future__ import annotations

from collections.abc import Hashable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from functools import partial
import math

import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from urlab_ros_bridge.ros.commands.admission import CommandRejected
from urlab_ros_bridge.ros.commands.arbitration import BASE
from urlab_ros_bridge.ros.commands.arbitration import JOINT_COMMANDS
from urlab_ros_bridge.ros.commands.robot import CommandedRobot
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Command
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.plan.parameters import Ros2ControlParameters
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.wire.errors import list_names
from urlab_ros_bridge.wire.names import known_name

FIELDS = ('position', 'velocity', 'effort')
# How far from a joint the first position after an e-stop may be (rad or m).
RESUME_DISTANCE = 0.1


def actuators_by_name(plan: RobotPlan) -> dict[str, tuple[int, ...]]:
    """Return the actuators of each joint, and of each actuator not named like a joint."""
    found: dict[str, tuple[int, ...]] = dict.fromkeys(plan.joints, ())
    for index, actuator in enumerate(plan.actuators):
        if actuator.joint:
            found[actuator.joint] = (*found.get(actuator.joint, ()), index)
    for index, actuator in enumerate(plan.actuators):
        if not found.get(actuator.name):
            found[actuator.name] = (index,)
    return found


def setpoints(
    message: JointState,
    prefix: str,
    actuators: Mapping[str, tuple[int, ...]],
    taken: Sequence[str],
) -> dict[int, float]:
    """
    Turn a message into setpoints by index of the actuator.

    A field has one value per name, or only values for the joints that take this field.  NaN is no
    command; neither is a missing value in a message that has fewer values than names.

    :param actuators: as by `actuators_by_name`.
    :param taken: field that each actuator takes.
    :raises CommandRejected: for an unknown name, infinity, a value that no actuator takes, or
        values that cannot be assigned to names.
    """
    indices = [_indices(name, prefix, actuators) for name in message.name]
    fields = {field: getattr(message, field) for field in FIELDS}
    complete = all(len(values) in (0, len(indices)) for values in fields.values())
    given = {field: _by_place(field, values, indices, taken) for field, values in fields.items()}
    found: dict[int, float] = {}
    for place, name in enumerate(message.name):
        values = {field: given[field][place] for field in FIELDS if place in given[field]}
        commanded = not all(map(math.isnan, values.values())) if values else complete
        if commanded and not indices[place]:
            raise CommandRejected(f'no actuator moves {name!r}')
        for index in indices[place]:
            field = taken[index]
            value = values.get(field, math.nan)
            if commanded and field not in values:
                raise CommandRejected(f'{name} takes {field}, which is empty')
            if math.isinf(value):
                raise CommandRejected(f'{field} of {name} is {value}')
            if not math.isnan(value):
                found[index] = value
        if commanded and not found.keys() & {*indices[place]}:
            raise CommandRejected(f'{name} takes {taken[indices[place][0]]}, which is NaN')
    return found


def _by_place(
    field: str, values: Sequence[float], indices: Sequence[Sequence[int]], taken: Sequence[str]
) -> dict[int, float]:
    """Return the values of a field by place in `name`; `indices`: the actuators of each name."""
    places: Sequence[int] = range(len(indices))
    if values and len(values) != len(places):
        places = [place for place in places if any(taken[i] == field for i in indices[place])]
        if places and len(values) != len(places):
            raise CommandRejected(
                f'{field} has {len(values)} values for {len(indices)} names, of which '
                f'{len(places)} take {field}'
            )
    return dict(zip(places, values, strict=False))


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


def _indices(name: str, prefix: str, actuators: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    local = known_name(name, prefix, actuators)
    if local not in actuators:
        moved = [each for each, indices in actuators.items() if indices]
        raise CommandRejected(f'no actuator moves {name!r}; {list_names("joint", moved)}')
    return actuators[local]


class JointCommands(Command):
    """Setpoints for the actuators of one robot."""

    def __init__(self, robot: CommandedRobot) -> None:
        self._robot = robot
        self._sink = robot.setpoints
        self._actuators = actuators_by_name(robot.plan)
        self._by_controllers = robot.settings(Ros2ControlParameters).ros2_control
        # Positions of the joints, and the position actuators that an e-stop has held since.
        self._positions: np.ndarray | None = None
        self._held: set[int] = set()
        if robot.arbiter.stopped:
            self.halt(robot.arbiter.stopped)
        robot.subscribe(JOINT_COMMANDS_TOPIC, self.receive)
        # ros2_control has controllers of these names.
        for field in () if self._by_controllers else FIELDS:
            indices = tuple(i for i, taken in enumerate(self._sink.fields) if taken == field)
            if indices:
                receive = partial(self._receive_array, field, indices)
                robot.subscribe(FORWARD, receive, parts={'field': field})

    @property
    def active(self) -> bool:
        """Whether `tick` needs joint states."""
        return bool(self._held)

    def tick(self, stamp_ns: int, joints: Sequence[np.ndarray] | None) -> None:
        """Remember the joint positions."""
        self._positions = None if joints is None else joints[0]

    def halt(self, reason: str) -> None:
        """Require positions near the joints: controllers continue their motion in an e-stop."""
        if self._by_controllers:
            fields = enumerate(self._sink.fields)
            self._held = {index for index, field in fields if field == 'position'}

    def receive(self, message: JointState, stale: str) -> None:
        """
        Carry out a message.

        :param stale: why it is too old, empty when it is not; positions and zeros never are.
        :raises CommandRejected: when it is not carried out.
        """
        sink = self._sink
        self._write(setpoints(message, sink.plan.prefix, self._actuators, sink.fields), stale)

    def _receive_array(
        self, field: str, indices: Sequence[int], message: Float64MultiArray, stale: str
    ) -> None:
        self._write(array_setpoints(message.data, indices, field), stale)

    def _write(self, wanted: Mapping[int, float], stale: str) -> None:
        robot, sink = self._robot, self._sink
        if not wanted:
            return
        sink.check()
        robot.admit(sink.moves(wanted), stale)
        if self._held and not robot.arbiter.stopped:
            self._check_resumed(wanted)
        parts: set[Hashable] = set(wanted)
        if robot.plan.drives and any(sink.fields[index] == 'velocity' for index in wanted):
            # These may be the wheels.
            parts.add(BASE)
        robot.arbiter.claim(JOINT_COMMANDS, parts, robot.context.now_ns)
        self._held.difference_update(wanted)
        sink.write(wanted, are_repeated=True)

    def _check_resumed(self, wanted: Mapping[int, float]) -> None:
        """Refuse positions after an e-stop until all are near their joints."""
        plan, positions = self._sink.plan, self._positions
        for index in self._held.intersection(wanted):
            name = plan.actuators[index].joint
            if name not in plan.joints:
                continue
            if positions is None:
                raise CommandRejected('the positions of the joints are not known yet')
            position = float(positions[plan.joints.index(name)])
            if abs(wanted[index] - position) > RESUME_DISTANCE:
                raise CommandRejected(
                    f'the e-stop has held {name} at {position:.2f}, its controller wants '
                    f'{wanted[index]:.2f}: send the controller a new goal'
                )


def commands(robot: CommandedRobot) -> list[Command]:
    """Make the topics of a robot with actuators."""
    return [JointCommands(robot)] if robot.plan.actuators else []


JOINT_COMMANDS_TOPIC = Topic(
    '{robot}/joint_commands',
    ('sensor_msgs/msg/JointState',),
    'command',
    when='actuators',
    incoming=True,
)
FORWARD = Topic(
    '{robot}/forward_{field}_controller/commands',
    ('std_msgs/msg/Float64MultiArray',),
    'command',
    when='actuators that take position, velocity or effort, without ros2_control',
    incoming=True,
)
FEATURE = Feature('joint commands', topics=(JOINT_COMMANDS_TOPIC, FORWARD), commands=commands)
