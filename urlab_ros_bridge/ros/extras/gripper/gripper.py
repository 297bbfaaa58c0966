# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Grippers: movements that end at the target, or when the fingers hold something.

A limit of the effort works through the setpoint: a position servo presses in proportion to the
remaining distance, so the setpoint leads the finger by no more than the limit allows.  The
stiffness of a servo is read from the model, or estimated when the setpoint has been constant for a
while.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
import threading

import numpy as np

from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.ros.commands.arbitration import Arbiter
from urlab_ros_bridge.ros.commands.arbitration import GRIPPER
from urlab_ros_bridge.ros.commands.goal_action import Goal
from urlab_ros_bridge.ros.commands.setpoints import Setpoints
from urlab_ros_bridge.ros.parameters.settings import SettingsReader
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.ros.rclpy_tools.actions import Ending
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.wire.stamp import NANOSECONDS


def _grippers(value: tuple[str, ...]) -> str:
    for text in () if value == ('auto',) else value:
        if not all(text.partition(':')):
            return f'contains {text!r}, must be NAME:JOINT[,JOINT...]'
    return ''


@dataclass(frozen=True)
class GripperParameters:
    """Grippers, and their criteria for arrival and stalling."""

    grippers: tuple[str, ...] = key(
        ('auto',),
        'Grippers as NAME:JOINT[,JOINT...], with ROBOT/ in front if only that robot has it. '
        '["auto"]: as reported by the server.',
        check=_grippers,
    )
    gripper_goal_tolerance: float = key(
        0.005,
        'Distance at which a gripper has reached its goal (m or rad).',
        low=0.0,
        high=1.0,
        live=True,
    )
    gripper_stall_speed: float = key(
        0.002,
        'Speed below which a gripper is stalling (m/s or rad/s).',
        low=0.0,
        high=10.0,
        live=True,
    )
    gripper_stall_timeout: float = key(
        0.5,
        'Time below gripper_stall_speed after which a gripper has stalled (s of simulation time).',
        low=0.0,
        high=60.0,
        live=True,
    )
    gripper_allow_stalling: bool = key(
        True,
        'Treat a gripper that stalls before its goal as successful: it holds an object.',
        live=True,
    )


AUTO = 'auto'
# Shortest period of feedback and effort corrections (ns of simulation time).
_PERIOD_NS = 20_000_000
# A setpoint that is older than this shows in the effort.
_SETTLED_NS = 60_000_000


@dataclass(frozen=True)
class Grip:
    """State of the fingers: joint coordinates, shape (n,), and efforts."""

    stamp_ns: int
    position: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray
    reached: bool
    stalled: bool


@dataclass
class Grasp:
    """
    A movement under way: targets and setpoints of each joint, and the largest effort.

    :ivar stiffness: N per m or N m per rad of each joint, 0 while it is not known.
    :ivar pressed: largest effort of each joint so far.
    """

    target: np.ndarray
    max_effort: np.ndarray
    goal: Goal
    stiffness: np.ndarray
    setpoint: np.ndarray = field(init=False)
    pressed: np.ndarray = field(init=False)
    moved_ns: int | None = None
    changed_ns: int | None = None
    reported_ns: int = -_PERIOD_NS
    written: bool = False

    def __post_init__(self) -> None:
        self.setpoint = self.target.copy()
        self.pressed = np.zeros(len(self.target))


def grippers_of(
    plan: RobotPlan, settings: SettingsReader, handshake: Handshake | None
) -> dict[str, tuple[str, ...]]:
    """
    Return the joints of each gripper of a robot by name.

    The parameter `grippers` has the form ``[ROBOT/]NAME:JOINT[,JOINT...]``; auto asks the server.
    """
    if settings(GripperParameters).grippers == (AUTO,):
        entries = handshake.raw.get('articulations') if handshake else None
        for entry in entries if isinstance(entries, list) else ():
            reported = entry.get('grippers') if entry.get('prefix') == plan.prefix else None
            if isinstance(reported, dict):
                return {str(name): tuple(map(str, joints)) for name, joints in reported.items()}
        return {}
    found = {}
    for entry in settings(GripperParameters).grippers:
        name, _, joints = entry.partition(':')
        robot, _, name = name.rpartition('/')
        if robot in ('', plan.prefix):
            found[name] = tuple(joint.strip() for joint in joints.split(','))
    return found


def _waits(grasp: Grasp, position: np.ndarray, effort: np.ndarray) -> np.ndarray:
    """
    Return which fingers press far below their limit because the next setpoint is late.

    On a busy machine a finger may come to rest at the end of the lead that it was given.
    """
    grasp.pressed = np.maximum(grasp.pressed, np.abs(effort))
    needed = np.abs(grasp.target - position) * grasp.stiffness
    most = np.minimum(np.minimum(grasp.max_effort, needed), grasp.pressed)
    return np.abs(effort) < 0.5 * most


class Gripper:
    """
    The fingers of one gripper; ticks come in the stream's thread.

    :ivar problem: why it cannot be used, empty when it can.
    """

    def __init__(
        self,
        name: str,
        joints: Sequence[str],
        setpoints: Setpoints,
        arbiter: Arbiter,
        settings: SettingsReader,
    ) -> None:
        self.name = name
        self.joints = tuple(joints)
        plan = setpoints.plan
        self._indices = [
            [index for index, each in enumerate(plan.actuators) if each.joint == joint]
            for joint in joints
        ]
        self.problem = ''
        for joint, indices in zip(joints, self._indices, strict=True):
            takes = {setpoints.fields[index] for index in indices}
            if joint not in plan.joints or takes != {'position'}:
                self.problem = (
                    f'no actuator of {plan.prefix} moves joint {joint!r} to a position; '
                    f'joints: {", ".join(plan.joints)}'
                )
        self._places = np.array(
            [plan.joints.index(joint) if joint in plan.joints else 0 for joint in joints]
        )
        # A controller of the server presses with gains of its own, which may change.
        self._stiffness = np.array(
            [
                0.0
                if plan.has_controller
                else sum(plan.actuators[index].stiffness for index in indices)
                for indices in self._indices
            ]
        )
        self._setpoints = setpoints
        self._arbiter = arbiter
        self._settings = settings
        self._lock = threading.RLock()
        self._grasp: Grasp | None = None
        self._last: Grip | None = None

    @property
    def active(self) -> bool:
        """Whether `tick` needs joint states."""
        return self._grasp is not None

    def start(self, target: np.ndarray, max_effort: np.ndarray, goal: Goal, now_ns: int) -> Grasp:
        """
        Start a movement; the one before is aborted.

        :param target: joint coordinates, shape (n,); `max_effort` likewise, 0: no limit.
        :raises CommandRejected: when commands cannot be sent, or another source has a joint.
        """
        self._setpoints.check()
        parts = [index for indices in self._indices for index in indices]
        self._arbiter.claim(GRIPPER, parts, now_ns, self.drop)
        with self._lock:
            grasp = Grasp(target, max_effort, goal, self._stiffness.copy())
            before, self._grasp = self._grasp, grasp
            last = self._last
        if before is not None:
            before.goal.done(Ending.ABORTED, last)
        # A limit that is known holds from the first setpoint on, so that needs a position.
        if not ((max_effort > 0) & (grasp.stiffness > 0)).any():
            self._write(grasp)
        return grasp

    def cancel(self, grasp: Grasp) -> None:
        """End a movement and hold the fingers where they are."""
        with self._lock:
            if grasp is not self._grasp:
                return
            if self._last is not None:
                grasp.setpoint = self._last.position
                self._write(grasp)
        self._finish(grasp, Ending.CANCELED)

    def drop(self, reason: str) -> None:
        """Abort, and send nothing more."""
        grasp = self._grasp
        if grasp is not None:
            self._finish(grasp, Ending.ABORTED)

    def tick(self, stamp_ns: int, measured: Sequence[np.ndarray] | None) -> None:
        """
        Advance the movement.

        :param measured: positions, velocities and efforts of all joints of the robot.
        """
        with self._lock:
            self._tick(stamp_ns, measured)

    def _tick(self, stamp_ns: int, measured: Sequence[np.ndarray] | None) -> None:
        grasp = self._grasp
        if grasp is None or measured is None:
            return
        grip = self._last = self._inspect(grasp, stamp_ns, measured)
        if not grasp.written:
            self._limit(grasp, grip)
        if grip.reached or grip.stalled:
            well = grip.reached or self._settings(GripperParameters).gripper_allow_stalling
            self._finish(grasp, Ending.SUCCEEDED if well else Ending.ABORTED)
        elif stamp_ns - grasp.reported_ns >= _PERIOD_NS:
            grasp.reported_ns = stamp_ns
            self._limit(grasp, grip)
            grasp.goal.feedback(grip)

    def _inspect(self, grasp: Grasp, stamp_ns: int, measured: Sequence[np.ndarray]) -> Grip:
        options, places = self._settings(GripperParameters), self._places
        position, velocity, effort = (values[places].astype(float) for values in measured)
        reached = bool(np.all(np.abs(grasp.target - position) <= options.gripper_goal_tolerance))
        effort = np.nan_to_num(effort)
        moves = (np.abs(velocity) > options.gripper_stall_speed) | _waits(grasp, position, effort)
        if grasp.moved_ns is None or np.any(moves):
            grasp.moved_ns = stamp_ns
        slow_for = (stamp_ns - grasp.moved_ns) / NANOSECONDS
        stalled = not reached and slow_for >= options.gripper_stall_timeout
        return Grip(stamp_ns, position, velocity, effort, reached, stalled)

    def _limit(self, grasp: Grasp, grip: Grip) -> None:
        """Limit the lead of setpoints to what the largest efforts allow."""
        if grasp.changed_ns is None:
            grasp.changed_ns = grip.stamp_ns
        if grip.stamp_ns - grasp.changed_ns >= _SETTLED_NS:
            lead = np.abs(grasp.setpoint - grip.position)
            found = (lead > 1e-5) & (self._stiffness == 0)
            grasp.stiffness[found] = np.abs(grip.effort)[found] / lead[found]
        limited = (grasp.max_effort > 0) & (grasp.stiffness > 0)
        if not limited.any():
            return
        most = np.where(limited, grasp.max_effort / np.maximum(grasp.stiffness, 1e-12), np.inf)
        wanted = grip.position + np.clip(grasp.target - grip.position, -most, most)
        changes = np.abs(wanted - grasp.setpoint) > np.minimum(0.05 * most, 1e-3)
        if changes.any() or not grasp.written:
            grasp.setpoint, grasp.changed_ns = wanted, grip.stamp_ns
            self._write(grasp)

    def _write(self, grasp: Grasp) -> None:
        grasp.written = True
        self._setpoints.write(
            {
                index: float(value)
                for indices, value in zip(self._indices, grasp.setpoint, strict=True)
                for index in indices
            }
        )

    def _finish(self, grasp: Grasp, ending: Ending) -> None:
        with self._lock:
            if grasp is not self._grasp:
                return
            self._grasp = None
            last, self._last = self._last, None
        self._arbiter.release(GRIPPER, [index for each in self._indices for index in each])
        grasp.goal.done(ending, last)
