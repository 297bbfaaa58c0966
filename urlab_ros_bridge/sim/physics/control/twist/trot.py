# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A quadruped that trots after its twist."""

from __future__ import annotations

from collections.abc import Sequence
from enum import auto
from enum import Enum
import math
from typing import ClassVar

import mujoco
import numpy as np

from urlab_ros_bridge.models.trot.gait import GaitSettings
from urlab_ros_bridge.models.trot.gait import GRAVITY
from urlab_ros_bridge.models.trot.gait import TrotGait
from urlab_ros_bridge.models.trot.gait import TrunkMotion
from urlab_ros_bridge.models.trot.legs import Legs
from urlab_ros_bridge.sim.model.sidecar.twists import TrotSection
from urlab_ros_bridge.sim.physics.control.controllers import Controller
from urlab_ros_bridge.sim.physics.control.twist.controller import TwistController
from urlab_ros_bridge.sim.physics.control.twist.drive import TwistSetupError
from urlab_ros_bridge.wire.errors import UnknownName


class _Phase(Enum):
    BEGINNING = auto()  # nothing is known yet
    RISING = auto()  # the feet go to their places on the ground
    STANDING = auto()
    WALKING = auto()
    FALLEN = auto()


_BUSY = (_Phase.RISING, _Phase.WALKING)
_PERIOD = 0.006  # s of simulated time between two setpoints, or one step
_FALLEN = 0.9  # rad of tilt beyond which the legs are folded
_STOPPING = 3.0  # s after which it stops stepping even if it has not come to rest
_AT_REST = 0.1  # m/s
_PUSHED = 0.2  # m/s at which a robot that stands begins to step
_FASTEST = 10.0  # rad/s, of a joint target
_LEAD = 0.4  # rad, most that a target leads its joint


class TrotTwist(TwistController):
    """
    Makes a quadruped walk: joint targets for the position control of its twelve joints.

    While it is active it owns the targets of the legs.  It stands up if it has to, trots while the
    twist is not zero and until it has come to rest, stands, and lets the targets go when no
    command holds any more.  A robot that has fallen folds its legs, and rises when it is upright.

    The targets lead the joints by what the torque needs that they are to give: that of the weight
    (transposed Jacobian) and of the damping.  It knows the state of the trunk from the simulation.
    """

    drives: ClassVar[bool] = True
    needs_controller: ClassVar[bool] = True
    _phase: _Phase
    _targets: np.ndarray | None
    _stopping: float
    _next: float

    def __init__(
        self,
        spec: TrotSection,
        actuator_names: Sequence[str],
        model: mujoco.MjModel,
        actuator_ids: np.ndarray,
        controller: Controller | None,
    ) -> None:
        self._model, self._controller = model, controller
        legs = spec.legs.in_order()
        self._actuators = [name for leg in legs for name in (leg.hip, leg.thigh, leg.calf)]
        self._slots = _find(self._actuators, list(actuator_names))
        ids = np.asarray(actuator_ids, dtype=np.intp)[self._slots]
        self._ids = ids
        if not self._gains()[0].all():
            raise TwistSetupError(
                'trot needs position control of the legs: a controller of kind pd, or <position> '
                'actuators'
            )
        joints = _hinges(model, ids, [actuator_names[slot] for slot in self._slots])
        self._qpos = model.jnt_qposadr[joints]
        trunk = _trunk(model, joints)
        self._base_qpos = int(model.jnt_qposadr[model.body_jntadr[trunk]])
        self._base_qvel = int(model.jnt_dofadr[model.body_jntadr[trunk]])
        self._weight = float(model.body_subtreemass[trunk]) * GRAVITY
        self._legs = _legs(model, trunk, joints.reshape(4, 3), [leg.foot for leg in legs])
        rest = self._legs.hip + self._legs.offset
        settings = GaitSettings(
            height=spec.height,
            cycle_time=spec.cycle_time,
            duty=spec.duty,
            step_height=spec.step_height,
        )
        self._gait = TrotGait(settings, rest[:, :2])
        super().__init__(spec)

    @property
    def actuators(self) -> list[str]:
        return list(self._actuators)

    def reset(self) -> None:
        super().reset()
        self._forget()

    def resume(self, other: TwistController) -> None:
        super().resume(other)
        if isinstance(other, TrotTwist):
            self._gait, self._targets = other._gait, other._targets
            self._phase, self._stopping, self._next = other._phase, other._stopping, other._next

    def apply(self, time: float, data: mujoco.MjData, setpoint: np.ndarray) -> None:
        """Write the joint targets for the step that begins at `time`."""
        self.advance(time)
        if not self.active or time + 1e-9 < self._next:
            return
        seconds = max(_PERIOD, float(self._model.opt.timestep))
        self._next = time + seconds
        roll, pitch, motion = self._trunk_state(data)
        if math.cos(roll) * math.cos(pitch) < math.cos(_FALLEN):
            self._phase = _Phase.FALLEN
        elif self._phase in (_Phase.BEGINNING, _Phase.FALLEN):
            self._gait.place(self._feet(data))
            self._phase = _Phase.RISING
        if self._phase is _Phase.FALLEN:
            self._fold(setpoint)
        else:
            self._gait.sense(seconds, motion)
            self._move(seconds)
            self._aim(seconds, roll, pitch, setpoint)

    def advance(self, time: float) -> None:
        # A zero twist keeps a robot on its legs, and wakes none: an emergency stop sends it too.
        held = self._phase is not _Phase.BEGINNING and time < self._deadline < math.inf
        super().advance(time)
        self.active = self.active or held or self._phase in _BUSY
        if not self.active:
            self._forget()

    def _forget(self) -> None:
        """Start over with the next command."""
        self._phase = _Phase.BEGINNING
        self._targets = None
        self._stopping = 0.0
        self._next = -math.inf

    def _move(self, seconds: float) -> None:
        """Move the feet on, and choose what to do next."""
        gait, wanted = self._gait, any(self.value)
        if self._phase is _Phase.RISING:
            if gait.stand(seconds):
                self._phase = _Phase.STANDING
        elif self._phase is _Phase.STANDING:
            if wanted or gait.speed > _PUSHED:
                self._phase, self._stopping = _Phase.WALKING, 0.0
        else:
            touched_down = gait.walk(seconds, self.value)
            self._stopping = 0.0 if wanted else self._stopping + seconds
            slow = gait.speed < _AT_REST or self._stopping > _STOPPING
            if touched_down and self._stopping > 0.0 and slow:
                self._phase = _Phase.RISING

    def _aim(self, seconds: float, roll: float, pitch: float, setpoint: np.ndarray) -> None:
        """Write the joint targets that bring the feet to their places."""
        gait = self._gait
        level = _tilt(roll, pitch)
        # Feet in the air are held to the ground's level; those on it push the trunk level.
        feet = np.where(gait.swinging[:, None], gait.feet @ level, gait.feet)
        share = level[2] * self._weight / max(4 - int(gait.swinging.sum()), 1)
        joints = self._legs.joints(feet)
        torques = -share @ self._legs.jacobian(joints)
        torques[gait.swinging] = 0.0
        speeds = np.zeros((4, 3))
        if self._targets is not None:
            speeds = np.clip((joints - self._targets) / seconds, -_FASTEST, _FASTEST)
        self._targets = joints
        stiffness, damping = self._gains()
        lead = (torques.ravel() + damping * speeds.ravel()) / np.maximum(stiffness, 1e-6)
        setpoint[self._slots] = joints.ravel() + np.clip(lead, -_LEAD, _LEAD)

    def _gains(self) -> tuple[np.ndarray, np.ndarray]:
        """Return stiffness and damping of the joints' position control, each (12,)."""
        gains = self._controller.position_gains() if self._controller else None
        if gains is not None:
            return gains[0][self._slots], gains[1][self._slots]
        # Those of <position> actuators; the joints' own damping is small beside them.
        gain, bias = (
            self._model.actuator_gainprm[self._ids],
            self._model.actuator_biasprm[self._ids],
        )
        return np.where(bias[:, 1] == -gain[:, 0], gain[:, 0], 0.0), -bias[:, 2]

    def _fold(self, setpoint: np.ndarray) -> None:
        """Draw the legs in, as low as a robot can lie on its belly."""
        height = np.array([0.0, 0.0, 0.55 * self._gait.settings.height])
        self._targets = None
        setpoint[self._slots] = self._legs.joints(self._gait.rest + height).ravel()

    def _feet(self, data: mujoco.MjData) -> np.ndarray:
        return self._legs.feet(data.qpos[self._qpos].reshape(4, 3))

    def _trunk_state(self, data: mujoco.MjData) -> tuple[float, float, TrunkMotion]:
        """Return roll and pitch (rad) and the motion in the heading frame."""
        matrix = np.empty(9)
        mujoco.mju_quat2Mat(matrix, data.qpos[self._base_qpos + 3 : self._base_qpos + 7])
        forward_x, forward_y = matrix[0], matrix[3]
        yaw = math.atan2(forward_y, forward_x)
        pitch = math.asin(min(max(-matrix[6], -1.0), 1.0))
        roll = math.atan2(matrix[7], matrix[8])
        vx, vy = data.qvel[self._base_qvel : self._base_qvel + 2]
        cosine, sine = math.cos(yaw), math.sin(yaw)
        velocity = np.array([cosine * vx + sine * vy, cosine * vy - sine * vx])
        # The free joint's angular velocity is that of the body's own axes.
        turn = float(matrix[6:9] @ data.qvel[self._base_qvel + 3 : self._base_qvel + 6])
        return roll, pitch, TrunkMotion(velocity, turn)


def _tilt(roll: float, pitch: float) -> np.ndarray:
    """Return the rotation (3, 3) from the trunk's frame to the heading frame."""
    cr, sr, cp, sp = math.cos(roll), math.sin(roll), math.cos(pitch), math.sin(pitch)
    return np.array([[cp, sp * sr, sp * cr], [0.0, cr, -sr], [-sp, cp * sr, cp * cr]])


def _find(wanted: Sequence[str], names: list[str]) -> np.ndarray:
    """Return the local slots of actuators."""
    for name in wanted:
        if name not in names:
            raise UnknownName('actuator', name, names)
    if len(set(wanted)) < len(wanted):
        raise TwistSetupError(f'an actuator is used twice in {", ".join(wanted)}')
    return np.array([names.index(name) for name in wanted], dtype=np.intp)


def _hinges(model: mujoco.MjModel, actuators: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Return the joints that actuators drive, which must be hinges."""
    for actuator, name in zip(actuators, names, strict=True):
        joint = model.actuator_trnid[actuator, 0]
        on_joint = model.actuator_trntype[actuator] == int(mujoco.mjtTrn.mjTRN_JOINT)
        if not on_joint or model.jnt_type[joint] != int(mujoco.mjtJoint.mjJNT_HINGE):
            raise TwistSetupError(f'the actuator {name!r} must drive a hinge joint')
        if model.actuator_gear[actuator, 0] != 1.0:
            raise TwistSetupError(f'the actuator {name!r} must have the gear 1')
    return model.actuator_trnid[actuators, 0]


def _trunk(model: mujoco.MjModel, joints: np.ndarray) -> int:
    """Return the body that carries all legs and floats."""
    roots = {int(model.body_rootid[model.jnt_bodyid[joint]]) for joint in joints}
    trunk = roots.pop()
    free = model.body_jntnum[trunk] == 1 and (
        model.jnt_type[model.body_jntadr[trunk]] == int(mujoco.mjtJoint.mjJNT_FREE)
    )
    if roots or not free:
        raise TwistSetupError('the legs must hang on one trunk with a free joint')
    return trunk


def _legs(model: mujoco.MjModel, trunk: int, joints: np.ndarray, feet: Sequence[str]) -> Legs:
    """Measure the legs, whose joints are (4, 3), with all joint coordinates of them at zero."""
    data = mujoco.MjData(model)
    data.qpos[model.jnt_qposadr[joints.ravel()]] = 0.0
    mujoco.mj_kinematics(model, data)
    turn, origin = data.xmat[trunk].reshape(3, 3), data.xpos[trunk]
    axes = data.xaxis[joints] @ turn
    wanted = np.array([(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 1.0, 0.0)])
    sign = np.round((axes * wanted).sum(axis=2))
    for leg, error in zip(joints, np.abs(axes - wanted * sign[:, :, None]), strict=True):
        if error.max() > 1e-3:
            names = ', '.join(model.joint(joint).name for joint in leg)
            raise TwistSetupError(f'the joints {names} must turn about x, y and y of the trunk')
    geoms = [_foot(model, int(leg[2]), name) for leg, name in zip(joints, feet, strict=True)]
    places = (data.geom_xpos[geoms] - origin) @ turn
    hip, thigh, calf = ((data.xanchor[joints] - origin) @ turn).transpose(1, 0, 2)
    upper, lower = calf - thigh, places - calf
    first = np.arctan2(-upper[:, 0], -upper[:, 2])
    second = np.arctan2(-lower[:, 0], -lower[:, 2]) - first
    bend = model.jnt_range[joints[:, 2]].mean(axis=1) * sign[:, 2] + second
    return Legs(
        hip=hip,
        offset=np.stack(
            (thigh[:, 0] - hip[:, 0], places[:, 1] - hip[:, 1], thigh[:, 2] - hip[:, 2]), axis=1
        ),
        thigh=np.hypot(upper[:, 0], upper[:, 2]),
        calf=np.hypot(lower[:, 0], lower[:, 2]),
        knee=np.where(bend < 0.0, -1.0, 1.0),
        zero=np.stack((np.zeros(4), first, second), axis=1),
        sign=sign,
    )


def _foot(model: mujoco.MjModel, calf_joint: int, name: str) -> int:
    """Return the geom of a foot, by its local name, on the calf or what is fixed to it."""
    calf = int(model.jnt_bodyid[calf_joint])
    found = []
    for geom in range(model.ngeom):
        body = int(model.geom_bodyid[geom])
        while body > calf and model.body_jntnum[body] == 0:
            body = int(model.body_parentid[body])
        if body == calf and model.geom(geom).name:
            if (model.geom(geom).name + '/').endswith((f'_{name}/', f'/{name}/')) or (
                model.geom(geom).name == name
            ):
                return geom
            found.append(model.geom(geom).name)
    raise UnknownName('geom of the calf', name, found)
