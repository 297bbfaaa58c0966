# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The commands of a step request: read and checked whole before anything is applied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field

import numpy as np

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.errors import unknown
from urlab_ros_bridge.sim.ops.stepping.twist import read_twist
from urlab_ros_bridge.sim.ops.stepping.twist import TwistCommand
from urlab_ros_bridge.sim.physics.control.articulation import ArticulationControl
from urlab_ros_bridge.sim.requests.fields import bad_value
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.fields import vector
from urlab_ros_bridge.sim.stage import Context

Setpoints = Sequence[float] | np.ndarray


@dataclass(slots=True)
class StepCommand:
    """The checked `per_articulation` part of a step request."""

    ctrl: Sequence[tuple[ArticulationControl, Setpoints]] = ()
    ctrl_map: list[tuple[ArticulationControl, int, float]] = field(default_factory=list)
    xfrc: list[tuple[int, np.ndarray]] = field(default_factory=list)
    raw: set[str] = field(default_factory=set)
    twists: list[TwistCommand] = field(default_factory=list)

    def stage(self, now: float) -> None:
        """Write the setpoints, ctrl_map wins over ctrl, and the twists at a simulated time (s)."""
        for control, values in self.ctrl:
            control.write(values)
        for control, index, value in self.ctrl_map:
            control.slots['zmq'][index] = value
        for twist in self.twists:
            twist.apply(now)


def read_command(context: Context, fields: Fields) -> StepCommand:
    """Check and resolve `per_articulation` before anything is applied."""
    ctrl: list[tuple[ArticulationControl, np.ndarray]] = []
    command = StepCommand(ctrl)
    for prefix, block in fields.mapping('per_articulation').items():
        control = context.engine.controls.get(prefix)
        if control is None:
            raise unknown('unknown_articulation', 'articulation', prefix, context.engine.controls)
        where = f'per_articulation.{prefix}.'
        if not isinstance(block, dict):
            raise bad_value(where[:-1], block, 'a map')
        part = Fields(block, where)
        values = part.vector('ctrl')
        if values is not None:
            ctrl.append((control, values))
        if part.string('control_mode').lower() == 'raw':
            command.raw.add(prefix)
        if 'ctrl_map' in part:
            _read_ctrl_map(control, part, command, where)
        if 'xfrc_applied' in part:
            _read_xfrc(context, control, part, command, where)
        if 'twist' in part:
            twist = Fields(part.mapping('twist'), f'{where}twist.')
            command.twists.append(read_twist(context, control, twist))
    return command


def _read_ctrl_map(
    control: ArticulationControl, part: Fields, command: StepCommand, where: str
) -> None:
    names = {actuator.name: index for index, actuator in enumerate(control.articulation.actuators)}
    prefix = f'{control.articulation.prefix}_'
    named = part.mapping('ctrl_map')
    values = vector(where + 'ctrl_map', list(named.values()))
    for name, value in zip(named, values, strict=True):
        index = names.get(name, names.get(name.removeprefix(prefix)))
        if index is None:
            raise unknown('bad_value', 'actuator', name, names)
        command.ctrl_map.append((control, index, float(value)))


def _read_xfrc(
    context: Context, control: ArticulationControl, part: Fields, command: StepCommand, where: str
) -> None:
    bodies = control.articulation.local('bodies')
    for name, force in part.mapping('xfrc_applied').items():
        body = bodies.get(name)
        if body is None:
            body = context.world.body_id(name)
        values = vector(f'{where}xfrc_applied.{name}', force)
        if len(values) != 6:
            raise OpError(
                'dim_mismatch',
                f'{where}xfrc_applied.{name} has {len(values)} values, '
                'a wrench has 6 (force, torque; world frame)',
            )
        command.xfrc.append((body, values))
