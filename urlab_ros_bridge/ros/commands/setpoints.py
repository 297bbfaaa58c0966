# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The setpoints of one robot: what its actuators are commanded to, and how that reaches the server.

A server with the extension `setpoints` gets what was commanded, by name, and stops a robot whose
bridge is lost.  A stock server in live mode takes only the values of all actuators at once.
"""

from __future__ import annotations

from collections.abc import Mapping
import math
import threading

from urlab_ros_bridge.client.client import STEP_WHILE_LIVE
from urlab_ros_bridge.client.errors import StaleCommand
from urlab_ros_bridge.client.ops import WallAge
from urlab_ros_bridge.client.replies.observations import ArticulationState
from urlab_ros_bridge.ros.commands.admission import CommandRejected
from urlab_ros_bridge.ros.commands.context import CommandContext
from urlab_ros_bridge.ros.commands.repeated import RepeatedCommands
from urlab_ros_bridge.ros.plan.parameters import Ros2ControlParameters
from urlab_ros_bridge.ros.plan.plan import command_field
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.wire.stamp import NANOSECONDS

EXTENSION = 'setpoints'
# Extension of a server that counts the resets of each robot, and refuses setpoints of before.
ROBOT_RESETS = 'robot_resets'
# Extension of a server that has an e-stop.
E_STOP = 'e_stop'
# Speeds and forces expire this long after the bridge was lost (s of simulation time).
LIFETIME = 1.0
# Period in which they are renewed (s of simulation time, and of wall time).
_RENEWAL_SECONDS = 0.3 * LIFETIME
# A joint that is slower counts as at rest (rad/s or m/s).
REST_SPEED = 0.05

# By index of the actuator.
Values = Mapping[int, float]


class Setpoints:
    """
    The setpoints of one robot, by index of the actuator; `write` may be called from any thread.

    :ivar fields: what each actuator takes: position, velocity or effort.
    :ivar resets: how often the robot was reset so far, None while it is not known.
    """

    def __init__(self, plan: RobotPlan, context: CommandContext) -> None:
        self.plan = plan
        self.fields = tuple(command_field(each, plan.has_controller) for each in plan.actuators)
        # The sender replaces what waits under the same key, and reports errors under it.
        self._key = f'{plan.namespace}/joint_commands' if plan.namespace else 'joint_commands'
        self._context = context
        self._link = context.link
        self.resets: int | None = None
        self._lock = threading.Lock()
        self._last: dict[int, float] = {}
        self._unsent: dict[int, float] = {}
        self._chosen_for: int | None = None  # the resets when they were chosen
        self._repeated = RepeatedCommands[int](context)
        self._all_values: list[float] | None = None  # of a stock server
        self._is_controlled = context.settings(Ros2ControlParameters).ros2_control
        # Simulation time and wall time (s) of the last renewal.
        self._renewed_ns: int | None = None
        self._renewed = -math.inf

    def problem(self) -> str:
        """Return why setpoints cannot be sent now, empty when they can."""
        state = self._link.state
        if not state.open:
            return 'not connected'
        # Elsewhere a step request would move time.
        if state.mode not in ('live', '') and not self._in_lockstep:
            return f'needs live mode, the server is in {state.mode} mode'
        return ''

    def check(self) -> None:
        """Raise CommandRejected when setpoints cannot be sent now."""
        if problem := self.problem():
            raise CommandRejected(problem)

    def moves(self, values: Values) -> bool:
        """Return whether setpoints keep something moving: a speed or a force that is not zero."""
        return bool(self._moving(values))

    def write(self, values: Values, *, are_repeated: bool = False) -> None:
        """
        Send setpoints.

        :param are_repeated: whether their source repeats them: speeds and forces that were given
            while time is frozen, or by controller_manager, are withdrawn when it does not.
        """
        moving = self._moving(values) if are_repeated else ()
        with self._lock:
            self._repeated.replace(values, moving, by_controllers=self._is_controlled)
            self._last.update(values)
            self._unsent.update(values)
            self._chosen_for = self.resets
        self._put()

    def last(self, index: int) -> float | None:
        """Return the last commanded value, None if there is none since the last reset."""
        return self._last.get(index)

    def expect_reset(self, before: int | None) -> None:
        """Count a reset of our own, unless a tick has already; `before`: the resets before it."""
        if before is not None and self.resets == before:
            self.resets = before + 1

    def clear(self) -> None:
        """Forget the setpoints: after a reset they are the server's."""
        with self._lock:
            self._last.clear()
            self._unsent.clear()
            self._repeated.clear()
            self._all_values = None

    def tick(self, stamp_ns: int) -> None:
        """Withdraw what is not repeated, and renew what moves the robot before it expires."""
        for reason, indices in self._repeated.take_withdrawn(stamp_ns).items():
            self.write(dict.fromkeys(indices, 0.0))
            names = ', '.join(self.plan.actuators[index].name for index in indices)
            text = f'{names} withdrawn: {reason}'
            self._context.rejections.add(self._key, CommandRejected(text))
        if self._is_renewal_due(stamp_ns):
            self._renew()

    def stop(self) -> None:
        """Set every speed and force that we command to zero."""
        with self._lock:
            commanded = tuple(self._last)
        moving = [index for index in commanded if self.fields[index] != 'position']
        if moving:
            self.write(dict.fromkeys(moving, 0.0))

    def hold(self) -> None:
        """
        Hold moving joints where they are, and set speeds and forces to zero.

        A server with an e-stop does so itself.
        """
        if self._link.has(E_STOP):
            self.clear()
        else:
            self._context.sender.put(self._key, self._hold)

    @property
    def _in_lockstep(self) -> bool:
        """Whether the server is stepped by the bridge, and takes setpoints without a step."""
        return self._context.stepping.in_lockstep and self._link.has(EXTENSION)

    def _moving(self, values: Values) -> dict[int, float]:
        return {i: value for i, value in values.items() if value and self.fields[i] != 'position'}

    def _is_renewal_due(self, stamp_ns: int) -> bool:
        """Return whether to renew; they expire in wall time too (`ServerLink.wall_age`)."""
        since_ns, now = self._renewed_ns, self._context.monotonic()
        passed = math.inf if since_ns is None else (stamp_ns - since_ns) / NANOSECONDS
        passed_wall = 0.0 if self._context.stepping.in_lockstep else now - self._renewed
        if 0 <= passed < _RENEWAL_SECONDS and passed_wall < _RENEWAL_SECONDS:
            return False
        self._renewed_ns, self._renewed = stamp_ns, now
        return True

    def _renew(self) -> None:
        with self._lock:
            moving = self._moving(self._last)
            self._unsent = moving | self._unsent
            self._chosen_for = self.resets
        if moving and self._link.has(EXTENSION) and not self.problem():
            self._put()

    def _put(self) -> None:
        self._context.sender.put(self._key, self._send)

    # From here on in the thread of the sender.

    def _send(self) -> None:
        if not self._link.has(EXTENSION):
            self._send_all_values()
        elif unsent := self._take_unsent():
            self._send_by_name(unsent)

    def _take_unsent(self) -> dict[int, float]:
        with self._lock:
            unsent, self._unsent = self._unsent, {}
        return unsent

    def _send_by_name(self, values: Values) -> None:
        try:
            self._set_setpoints(values, self._link.wall_age(LIFETIME))
        except StaleCommand:
            # Positions, and what stops a joint, are never too old.
            moving = self._moving(values)
            rest = {index: value for index, value in values.items() if index not in moving}
            if rest:
                self._set_setpoints(rest, None)
            raise

    def _set_setpoints(self, values: Values, wall: WallAge | None) -> None:
        named = {self.plan.actuators[index].name: value for index, value in values.items()}
        self._link.command_client.set_setpoints(
            self.plan.prefix, named, LIFETIME, wall=wall, resets=self._chosen_for
        )

    def _send_all_values(self) -> None:
        values = self._all_values or self._present_values()
        for index, value in self._take_unsent().items():
            values[index] = value
        self._all_values = values
        client = self._link.command_client
        client.step(
            ctrl={self.plan.prefix: values}, observations='minimal', timeout=client.timeout
        )

    def _present_values(self) -> list[float]:
        """Return setpoints of all actuators that change nothing."""
        plan, state = self.plan, self._state()
        ctrl: list[float] = state.ctrl.tolist()
        if len(ctrl) != len(plan.actuators):
            ctrl = [0.0] * len(plan.actuators)
        if not plan.has_controller:
            return ctrl
        # With a controller `ctrl` is its output; its input that holds still is where the joint is.
        slots = dict(zip(plan.joints, plan.qpos, strict=False))
        return [
            float(state.qpos[slots[actuator.joint]]) if actuator.joint in slots else value
            for actuator, value in zip(plan.actuators, ctrl, strict=True)
        ]

    def _hold(self) -> None:
        if self.problem():
            return
        state = self._state()
        places = zip(self.plan.qpos, self.plan.qvel, strict=True)
        slots = dict(zip(self.plan.joints, places, strict=False))
        held: dict[int, float] = {}
        for index, actuator in enumerate(self.plan.actuators):
            if self.fields[index] != 'position':
                held[index] = 0.0
            elif actuator.joint in slots:
                place, speed = slots[actuator.joint]
                if abs(state.qvel[speed]) > REST_SPEED:
                    held[index] = float(state.qpos[place])
        with self._lock:
            self._repeated.clear()
            self._last.update(held)
            self._unsent = held
        self._send()

    def _state(self) -> ArticulationState:
        """Return the state as it is: in live mode `step` only reads, in lockstep it moves time."""
        client = self._link.command_client
        if self._in_lockstep:
            observed = client.forward()
        else:
            observed = client.step(while_live=self._link.has(STEP_WHILE_LIVE))
        state = observed.articulations.get(self.plan.prefix)
        if state is None:
            raise CommandRejected(f'the server does not report the state of {self.plan.prefix}')
        return state
