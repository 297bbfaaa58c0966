# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What drives the actuators of one articulation before each sub-step.

Setpoints are sticky and kept by source, `zmq` (clients) and `ui`; `set_control_source` chooses.
An active drive owns its actuators; then the controller turns setpoints into ctrl, or
they are written through.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Sequence

import mujoco
import numpy as np

from urlab_ros_bridge.model import Actuator
from urlab_ros_bridge.model import RobotModel
from urlab_ros_bridge.sim.model.sidecar.specs import ArticulationSpec
from urlab_ros_bridge.sim.physics.control.controllers import Controller
from urlab_ros_bridge.sim.physics.control.controllers import make_controller
from urlab_ros_bridge.sim.physics.control.twist import make_twist
from urlab_ros_bridge.sim.physics.control.twist import TwistController
from urlab_ros_bridge.wire import ops

# Joints that are slower (rad/s, m/s) keep their setpoints when they are stopped.
REST_SPEED = 0.05


class ArticulationControl:
    """Setpoints, controller and twist controller of one articulation."""

    def __init__(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        articulation: RobotModel,
        spec: ArticulationSpec,
    ) -> None:
        self._model = model
        self._data = data
        self._index = articulation.ctrl
        names = list(articulation.actuators)
        ids = np.array(
            [actuator.id for actuator in articulation.actuators.values()], dtype=np.intp
        )
        self.articulation = articulation
        self._actuators = list(articulation.actuators.values())
        self.controller: Controller | None = make_controller(spec.controller, model, ids, names)
        self.twist: TwistController | None = make_twist(
            spec.twist, names, model, ids, self.controller
        )
        self.source = 'zmq'
        self.setpoints = {source: np.zeros(articulation.nu) for source in ops.CONTROL_SOURCES}
        self._is_view = isinstance(self._index, slice)  # that _ctrl is, into data.ctrl
        self._ctrl = data.ctrl[self._index] if self._is_view else np.zeros(articulation.nu)
        self.reset(None)

    @property
    def default_mode(self) -> str:
        """Return the handshake's default_control_mode."""
        return 'ue_controller' if self.controller is not None else 'raw'

    def write(self, values: Sequence[float] | np.ndarray) -> None:
        """Write positional setpoints: extra ones are ignored, missing ones keep their value."""
        slot = self.setpoints['zmq']
        if len(values) == len(slot):
            slot[...] = values
            return
        count = min(len(values), len(slot))
        slot[:count] = values[:count]

    def holds(self, index: int) -> bool:
        """Return whether an actuator takes a position: of a joint controller, or its own."""
        actuator = self._actuators[index]
        if self.controller is not None and actuator.transmission == 'joint':
            return True
        # What <position> compiles to: its force falls with the position.
        return bool(self._model.actuator_biasprm[actuator.id][1] < 0.0)

    def stop(self) -> None:
        """
        Stop: the base ramps down, moving joints hold their position, speeds and forces become 0.

        The actuators of a base that moves are left to its drive, which brings it to rest.
        """
        driven: Collection[str] = ()
        if self.twist is not None:
            driven = self.twist.actuators if self.twist.active else ()
            self.twist.stop(self._data.time)
        for index, actuator in enumerate(self._actuators):
            if actuator.name in driven:
                continue
            value: float | None = 0.0
            if self.holds(index):
                value = self._present(actuator)
            if value is not None:
                for slot in self.setpoints.values():
                    slot[index] = value

    def _present(self, actuator: Actuator) -> float | None:
        """Return the setpoint that holds a moving joint where it is; None for one at rest."""
        if abs(self._data.actuator_velocity[actuator.id]) < REST_SPEED:
            return None
        joints = self.articulation.world.joints
        if self.controller is not None and actuator.transmission == 'joint':
            joint = joints[actuator.joint_id]
            return float(self._data.qpos[joint.qpos_address]) if joint.is_scalar else None
        gain = self._model.actuator_gainprm[actuator.id][0]
        stiffness = -self._model.actuator_biasprm[actuator.id][1]
        return float(self._data.actuator_length[actuator.id] * stiffness / gain) if gain else None

    def apply(self, raw: bool) -> None:
        """Write data.ctrl for the next sub-step; `raw` bypasses the controller."""
        setpoint = self.setpoints[self.source]
        if self.twist is not None and self.twist.active:
            if raw and self.controller is not None and self.twist.needs_controller:
                self.twist.advance(self._data.time)
            else:
                self.twist.apply(self._data.time, self._data, setpoint)
        if self.controller is None or raw:
            if self._is_view:
                self._ctrl[...] = setpoint
            else:
                self._data.ctrl[self._index] = setpoint
            return
        self.controller.compute(self._model, self._data, setpoint, self._ctrl)
        if not self._is_view:
            self._data.ctrl[self._index] = self._ctrl

    def follow(self) -> None:
        """Advance a held twist to the time of a state that was written from outside."""
        if self.twist is not None and self.twist.active and not self.twist.drives:
            self.twist.advance(self._data.time)

    def resume(self, other: ArticulationControl) -> None:
        """Restore the state of the same articulation in the world that this one replaces."""
        self.source = other.source
        for source, slot in self.setpoints.items():
            slot[:] = other.setpoints[source]
        if not self._is_view:
            self._ctrl[:] = self._data.ctrl[self._index]
        if self.controller is not None and other.controller is not None:
            self.controller.configure(other.controller.params())
        if self.twist is not None and other.twist is not None:
            self.twist.resume(other.twist)

    def reset(self, ctrl: np.ndarray | None) -> None:
        """
        Forget commands: setpoints become `ctrl` of a keyframe (shape (nu,), whole model).

        Without one they become zero, or, under a controller, the reference joint positions, so
        that a robot holds the pose that mj_resetData gives it.
        """
        if self.twist is not None:
            self.twist.reset()
        for slot in self.setpoints.values():
            if ctrl is not None:
                slot[:] = ctrl[self._index]
            elif self.controller is not None:
                slot[:] = self._rest_targets()
            else:
                slot[:] = 0.0
        if not self._is_view:
            self._ctrl[:] = self._data.ctrl[self._index]

    def _rest_targets(self) -> np.ndarray:
        targets, joints = np.zeros(self.articulation.nu), self.articulation.world.joints
        for actuator in self.articulation.actuators.values():
            if actuator.transmission == 'joint' and joints[actuator.joint_id].is_scalar:
                joint = joints[actuator.joint_id]
                targets[actuator.index] = self._model.qpos0[joint.qpos_address]
        return targets
