# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The controller that forwards setpoints: what the protocol calls kind "base"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import mujoco
import numpy as np

from urlab_ros_bridge.schema import shown
from urlab_ros_bridge.sim.physics.control.controllers.base import Controller
from urlab_ros_bridge.sim.physics.control.controllers.base import InvalidControllerParameters


class PassthroughController(Controller):
    """Setpoints go to the actuators as they are; there is nothing to configure."""

    kind: ClassVar[str] = 'base'

    def __init__(
        self,
        model: mujoco.MjModel,
        actuator_ids: np.ndarray,
        actuator_names: Sequence[str],
        config: dict | None = None,
    ) -> None:
        super().__init__(model, actuator_ids, actuator_names, config)
        self.bound[:] = True
        self.configure({key: value for key, value in (config or {}).items() if key != 'kind'})

    def params(self) -> dict:
        return {}

    def schema(self) -> dict:
        return {}

    def configure(self, params: dict) -> None:
        if not isinstance(params, dict):
            raise InvalidControllerParameters('params', f'must be a map, not {shown(params)}')
        if params:
            raise InvalidControllerParameters(
                f'params.{next(iter(params))!s:.80}', 'unknown parameter', 'parameter', ()
            )

    def compute(
        self, model: mujoco.MjModel, data: mujoco.MjData, setpoint: np.ndarray, ctrl: np.ndarray
    ) -> None:
        ctrl[:] = setpoint
