# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The commands of requests: setpoints, forces, twists; checked whole before any is applied."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
import time
from typing import Any
from typing import NamedTuple

import numpy as np

from urlab_ros_bridge.model import Body
from urlab_ros_bridge.model.named_bodies import NamedBody
from urlab_ros_bridge.sim.admission import prefixes_of
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.errors import unknown
from urlab_ros_bridge.sim.physics.control.articulation import ArticulationControl
from urlab_ros_bridge.sim.physics.wall_timeout import WallTimeout
from urlab_ros_bridge.sim.requests.fields import bad_value
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.fields import find_element
from urlab_ros_bridge.sim.requests.fields import vector
from urlab_ros_bridge.sim.simulation import Simulation
from urlab_ros_bridge.wire.dialect import V06
from urlab_ros_bridge.wire.stamp import NANOSECONDS

MAX_SECONDS = 1e6
RAW = 'raw'
CONTROL_MODES = ('ue_controller', RAW)


def read_wall_timeout(fields: Fields, moves: bool) -> WallTimeout | None:
    """
    Return how long the command of a request may wait while time is frozen; None: forever.

    `wall_seen` is the wall time in the last `sim_time` row that the client saw.  It is this
    server's own clock, so it gives the age of a request that has waited in a queue, whatever the
    clock of the client.

    :param moves: the command keeps something moving; one that stops it is never too old.
    :raises OpError: stale_command when it is older than `wall_timeout` already.
    """
    limit = fields.number('wall_timeout', low=0.0, high=MAX_SECONDS)
    seen = fields.integer('wall_seen', 0)
    if not limit or not moves:
        return None
    age = (time.time_ns() - seen) / NANOSECONDS
    if seen and age > limit:
        raise OpError(
            'stale_command',
            f'the client last received the time {age:.3f} s ago, wall_timeout is {limit:g} s',
        )
    return WallTimeout(limit, time.monotonic())


def check_resets(chosen_for: int | None, resets: int) -> None:
    """
    Make sure that what a command was chosen for has not been reset since.

    :param chosen_for: count of resets at that time, None when it does not say.
    :raises OpError: stale_command.
    """
    if chosen_for is not None and chosen_for != resets:
        raise OpError('stale_command', 'there was a reset after this command was chosen')


class TwistCommand(NamedTuple):
    """
    A checked twist for one controller: m/s and rad/s in the base frame.

    :ivar resets: of the state that it was chosen for, as snapshots count; None: of any.
    """

    controller: Any
    linear: Sequence[float]
    angular: Sequence[float]
    timeout: float | None
    wall: WallTimeout | None
    resets: int | None

    def check_resets(self, resets: int) -> None:
        """
        Make sure that the state it was chosen for has not been reset; stopping suits any state.

        :param resets: of the world, as it counts now.
        :raises OpError: stale_command.
        """
        if any(self.linear) or any(self.angular):
            check_resets(self.resets, resets)

    def apply(self, now: float) -> tuple[float, float, float]:
        """Send it to the controller at a simulated time (s); return the limited twist."""
        vx, vy, yaw = self.controller.set(self.linear, self.angular, now, self.timeout, self.wall)
        return vx, vy, yaw


def read_resets(fields: Fields) -> int | None:
    """Return the count of resets that a command was chosen for, None when it does not say."""
    return fields.integer('resets', 0) if 'resets' in fields else None


def read_twist(
    simulation: Simulation, control: ArticulationControl, fields: Fields
) -> TwistCommand:
    """
    Check the fields of a twist.

    The extension `resets` names the state it was chosen for, as snapshots count: one that moves
    the robot is refused when the world was reset since.

    :raises OpError: no_twist_controller, stale_command, or what is wrong with a field.
    """
    if control.twist is None:
        prefix = control.articulation.prefix
        raise OpError('no_twist_controller', f'{prefix} has no twist controller')
    linear = fields.vector('linear', np.zeros(3))
    angular = fields.vector('angular', np.zeros(3))
    timeout = fields.number('timeout', low=0.0) or None
    moves = bool(linear.any() or angular.any())
    wall = read_wall_timeout(fields, moves)
    chosen_for = read_resets(fields)
    command = TwistCommand(control.twist, list(linear), list(angular), timeout, wall, chosen_for)
    command.check_resets(simulation.engine.clock.resets)
    return command


def entity_of(simulation: Simulation, name: object) -> NamedBody | None:
    """Return the entity that a request names in place of a robot, in the dialect of v0.6."""
    if simulation.config.dialect != V06 or not isinstance(name, str):
        return None
    return simulation.world.entities.get(name)


Setpoints = Sequence[float] | np.ndarray


@dataclass(slots=True)
class StepCommand:
    """
    The checked `per_articulation` part of a step request.

    :ivar prefixes: of the articulations that it is for.
    """

    ctrl: Sequence[tuple[ArticulationControl, Setpoints]] = ()
    ctrl_map: list[tuple[ArticulationControl, int, float]] = field(default_factory=list)
    xfrc: list[tuple[int, np.ndarray]] = field(default_factory=list)
    raw: set[str] = field(default_factory=set)
    twists: list[TwistCommand] = field(default_factory=list)
    prefixes: set[str] = field(default_factory=set)

    def write(self, now: float) -> None:
        """Write the setpoints, ctrl_map wins over ctrl, and the twists at a simulated time (s)."""
        for control, values in self.ctrl:
            control.write(values)
        for control, index, value in self.ctrl_map:
            control.setpoints['zmq'][index] = value
        for twist in self.twists:
            twist.apply(now)


def read_command(simulation: Simulation, fields: Fields) -> StepCommand:
    """Check and resolve `per_articulation` before anything is applied."""
    ctrl: list[tuple[ArticulationControl, np.ndarray]] = []
    command = StepCommand(ctrl)
    for prefix, block in fields.mapping('per_articulation').items():
        control = simulation.engine.controls.get(prefix)
        where = f'per_articulation.{prefix}.'
        if control is None and entity_of(simulation, prefix) is None:
            raise unknown(
                'unknown_articulation', 'articulation', prefix, simulation.engine.controls
            )
        if not isinstance(block, dict):
            raise bad_value(where[:-1], block, 'a map')
        part = Fields(block, where)
        if control is None:  # it has nothing but its body
            _read_xfrc(simulation, {}, part, command, where)
            continue
        values = part.vector('ctrl')
        if values is not None:
            ctrl.append((control, values))
        if part.choice('control_mode', CONTROL_MODES, CONTROL_MODES[0]) == RAW:
            command.raw.add(prefix)
        if 'ctrl_map' in part:
            _read_ctrl_map(control, part, command, where)
        if 'xfrc_applied' in part:
            bodies = control.articulation.bodies
            _read_xfrc(simulation, bodies, part, command, where)
        if 'twist' in part:
            twist = Fields(part.mapping('twist'), f'{where}twist.')
            command.twists.append(read_twist(simulation, control, twist))
        if block:
            command.prefixes.add(prefix)
    if command.xfrc:
        pushed = (body for body, _ in command.xfrc)
        command.prefixes |= prefixes_of(simulation.world, pushed)
    return command


def _read_ctrl_map(
    control: ArticulationControl, part: Fields, command: StepCommand, where: str
) -> None:
    robot = control.articulation
    named = part.mapping('ctrl_map')
    values = vector(where + 'ctrl_map', list(named.values()))
    for name, value in zip(named, values, strict=True):
        actuator = find_element('actuator', name, robot.prefix, robot.actuators)
        command.ctrl_map.append((control, actuator.index, float(value)))


def _read_xfrc(
    simulation: Simulation,
    bodies: Mapping[str, Body],
    part: Fields,
    command: StepCommand,
    where: str,
) -> None:
    for name, force in part.mapping('xfrc_applied').items():
        body = bodies[name].id if name in bodies else simulation.world.body_id(name)
        values = vector(f'{where}xfrc_applied.{name}', force)
        if len(values) != 6:
            raise OpError(
                'dim_mismatch',
                f'{where}xfrc_applied.{name} has {len(values)} values, '
                'a wrench has 6 (force, torque; world frame)',
            )
        command.xfrc.append((body, values))
