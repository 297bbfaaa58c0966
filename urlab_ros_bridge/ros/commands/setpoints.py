# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The setpoints of one robot, and how they reach the server in live mode.

With the extension `setpoints` only what was commanded is sent, by name, and setpoints that would
keep a robot moving lapse when the bridge is lost.  A stock server in live mode honours only a
whole vector, so there the last value of every actuator is kept here and sent again.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import math
import threading

from urlab_ros_bridge.client.client import STEP_WHILE_LIVE
from urlab_ros_bridge.client.errors import StaleCommand
from urlab_ros_bridge.client.ops import WallAge
from urlab_ros_bridge.client.replies.observations import ArticulationState
from urlab_ros_bridge.ros.commands.admission import CommandRejected
from urlab_ros_bridge.ros.commands.context import CommandContext
from urlab_ros_bridge.ros.commands.context import CommandParameters
from urlab_ros_bridge.ros.plan.plan import command_field
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.wire.stamp import NANOSECONDS

EXTENSION = 'setpoints'
# Lifetime of setpoints that move a robot, without the bridge (s of simulation time).
LAPSE_SECONDS = 1.0
_RENEW_SECONDS = 0.3 * LAPSE_SECONDS
WITHDRAWN = 'simulation time is frozen, and it was not repeated within {:g} s'
# s of wall time without a new time after which time counts as frozen.
STILL = 0.1
# rad/s or m/s; a joint that is slower counts as at rest.
REST_SPEED = 0.05
# Extension of a server that has an e-stop.
E_STOP = 'e_stop'


class Setpoints:
    """The setpoints of one robot; `write` may be called from any thread."""

    def __init__(self, plan: RobotPlan, context: CommandContext) -> None:
        self.plan = plan
        self.fields = tuple(command_field(each, plan.has_controller) for each in plan.actuators)
        # Under which the sender reports errors.
        self._key = f'{plan.namespace}/joint_commands' if plan.namespace else 'joint_commands'
        self._context = context
        self._link = context.link
        self._sender = context.sender
        self._lock = threading.Lock()
        self._commanded: dict[int, float] = {}
        self._wanted: dict[int, float] = {}
        self._values: list[float] | None = None
        self._renewed_ns: int | None = None
        self._renewed = 0.0
        self._timeline = context.timeline
        self._monotonic = context.monotonic
        # Index -> simulation time and wall time of what was commanded while time is frozen.
        self._waiting: dict[int, tuple[int | None, float]] = {}

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

    @property
    def _in_lockstep(self) -> bool:
        """Whether the server is stepped by the bridge, and takes setpoints without a step."""
        return self._link.lockstep and self._link.has(EXTENSION)

    def moves(self, values: Mapping[int, float]) -> bool:
        """Return whether setpoints keep something moving: a speed or a force that is not zero."""
        return any(value and self.fields[index] != 'position' for index, value in values.items())

    def write(self, values: Mapping[int, float], *, live: bool = False) -> None:
        """
        Send setpoints by index of the actuator.

        :param live: they need a sender that keeps repeating them; when time is frozen and none
            does, speeds and forces are withdrawn.
        """
        now, stamp_ns = self._monotonic(), self._timeline.stamp_ns
        still = live and now - self._timeline.last_advance > STILL
        with self._lock:
            for index, value in values.items():
                self._waiting.pop(index, None)
                if still and value and self.fields[index] != 'position':
                    self._waiting[index] = stamp_ns, now
            self._commanded.update(values)
            self._wanted.update(values)
        self._sender.put(self._key, self._send)

    def last(self, index: int) -> float | None:
        """Return what was commanded last, None when nothing was since the last reset."""
        return self._commanded.get(index)

    def clear(self) -> None:
        """Forget the setpoints: after a reset they are the server's."""
        with self._lock:
            self._commanded.clear()
            self._wanted.clear()
            self._waiting.clear()
            self._values = None

    def tick(self, stamp_ns: int) -> None:
        """
        Renew the setpoints that keep the robot moving, before they lapse.

        They lapse in wall time too while time is frozen (`Link.wall_age`).
        """
        if self._waiting:
            self._withdraw(stamp_ns)
        now, since_ns = self._monotonic(), self._renewed_ns
        passed = math.inf if since_ns is None else (stamp_ns - since_ns) / NANOSECONDS
        wall = 0.0 if self._link.lockstep else now - self._renewed
        if not 0 <= passed < _RENEW_SECONDS or wall >= _RENEW_SECONDS:
            self._renewed_ns, self._renewed = stamp_ns, now
            with self._lock:
                moving = {
                    index: value
                    for index, value in self._commanded.items()
                    if value and self.fields[index] != 'position'
                }
                for index, value in moving.items():
                    self._wanted.setdefault(index, value)
            if moving and self._link.has(EXTENSION) and not self.problem():
                self._sender.put(self._key, self._send)

    def _withdraw(self, stamp_ns: int) -> None:
        """Set to zero what was commanded while time was frozen, and not repeated for a while."""
        limit, now = self._context.settings(CommandParameters).command_max_age, self._monotonic()
        with self._lock:
            old = [
                index
                for index, (_, received) in self._waiting.items()
                if 0 < limit < now - received and not self._link.lockstep
            ]
            for index, (given_ns, _) in tuple(self._waiting.items()):
                if index in old or given_ns != stamp_ns:
                    del self._waiting[index]
        if old:
            self.write(dict.fromkeys(old, 0.0))
            names = ', '.join(self.plan.actuators[index].name for index in old)
            text = f'{names} withdrawn: {WITHDRAWN.format(limit)}'
            self._context.rejections.add(self._key, CommandRejected(text))

    def stop(self) -> None:
        """Set every speed and force that we command to zero."""
        moving = [index for index in self._commanded if self.fields[index] != 'position']
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
            self._sender.put(self._key, self._hold)

    def _hold(self) -> None:
        if self.problem():
            return
        state = self._state()
        places = zip(self.plan.qpos, self.plan.qvel, strict=True)
        slots = dict(zip(self.plan.joints, places, strict=False))
        found: dict[int, float] = {}
        for index, actuator in enumerate(self.plan.actuators):
            if self.fields[index] != 'position':
                found[index] = 0.0
            elif actuator.joint in slots:
                place, speed = slots[actuator.joint]
                if abs(state.qvel[speed]) > REST_SPEED:
                    found[index] = float(state.qpos[place])
        with self._lock:
            self._wanted.clear()
            self._waiting.clear()
            self._commanded.update(found)
            self._wanted.update(found)
        self._send()

    def _send(self) -> None:
        if self._link.has(EXTENSION):
            with self._lock:
                wanted = dict(self._wanted)
                self._wanted.clear()
            if wanted:
                self._send_named(wanted)
            return
        values = self._values or self._present()
        with self._lock:
            for index, value in self._wanted.items():
                values[index] = value
            self._wanted.clear()
            self._values = values
        self._link.commands.step(
            ctrl={self.plan.prefix: values},
            observations='minimal',
            timeout=self._link.commands.timeout,
        )

    def _send_named(self, wanted: Mapping[int, float]) -> None:
        def put(values: Mapping[int, float], wall: WallAge | None) -> None:
            named = {self.plan.actuators[index].name: value for index, value in values.items()}
            self._link.commands.set_setpoints(self.plan.prefix, named, LAPSE_SECONDS, wall=wall)

        try:
            put(wanted, self._link.wall_age(LAPSE_SECONDS))
        except StaleCommand:
            # Positions, and what stops a joint, are never too old.
            rest = {index: each for index, each in wanted.items() if not self.moves({index: each})}
            if rest:
                put(rest, None)
            raise

    def _state(self) -> ArticulationState:
        """Return the state as it is: in live mode `step` only reads, in lockstep it moves time."""
        commands = self._link.commands
        if self._in_lockstep:
            seen = commands.forward()
        else:
            seen = commands.step(while_live=self._link.has(STEP_WHILE_LIVE))
        state = seen.articulations.get(self.plan.prefix)
        if state is None:
            raise CommandRejected(f'the server does not report the state of {self.plan.prefix}')
        return state

    def _present(self) -> list[float]:
        """Return setpoints that change nothing."""
        plan, state = self.plan, self._state()
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
