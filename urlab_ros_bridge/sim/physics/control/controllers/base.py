# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What a controller is: setpoints in, MuJoCo controls out, parameters that clients may change."""

from __future__ import annotations

from abc import ABC
from abc import abstractmethod
from collections.abc import Iterable
from collections.abc import Sequence
from typing import ClassVar

import mujoco
import numpy as np

from urlab_ros_bridge.wire.errors import list_names
from urlab_ros_bridge.wire.errors import UrlabError


class InvalidControllerParameters(UrlabError, ValueError):
    """Parameters do not fit the schema of the controller; nothing was changed."""

    def __init__(
        self, field: str, problem: str, kind: str = '', valid: Iterable[str] | None = None
    ) -> None:
        self.field = field
        listed = '' if valid is None else '; ' + list_names(kind, valid)
        super().__init__(f'{field}: {problem}{listed}')


class Controller(ABC):
    """
    The controller of one articulation; it runs before every physics step.

    Subclasses are built from the compiled model, the ids of the articulation's actuators in
    ascending order, their local names in the same order, and the sidecar's `controller` mapping.
    """

    kind: ClassVar[str]

    def __init__(
        self,
        model: mujoco.MjModel,
        actuator_ids: np.ndarray,
        actuator_names: Sequence[str],
        config: dict | None = None,
    ) -> None:
        self.actuator_names = list(actuator_names)
        self.bound = np.zeros(len(self.actuator_names), dtype=bool)
        """(nu_local,) True for the actuators whose ctrl this controller writes."""

    @abstractmethod
    def params(self) -> dict:
        """Return the current parameters, as `hello` and `configure_controller` report them."""

    @abstractmethod
    def schema(self) -> dict:
        """Return {parameter: {type, dtype, min}}, as `hello` reports it."""

    @abstractmethod
    def configure(self, params: dict) -> None:
        """
        Change the given parameters and no others, all of them or none.

        Raises
        ------
        InvalidControllerParameters
            An unknown parameter or actuator, a value of the wrong type or out of range.
        """

    @abstractmethod
    def compute(
        self, model: mujoco.MjModel, data: mujoco.MjData, setpoint: np.ndarray, ctrl: np.ndarray
    ) -> None:
        """
        Write the controls of the `bound` actuators.

        setpoint and ctrl are (nu_local,) arrays in the order of the actuators; ctrl is a view of
        the articulation's part of ``data.ctrl``, or a copy that the caller writes back.
        """

    def position_gains(self) -> tuple[np.ndarray, np.ndarray] | None:
        """
        Return stiffness and damping of position setpoints, None if setpoints are not positions.

        Both are (nu_local,), N m/rad and N m s/rad (N/m and N s/m of slides); 0 where not bound.
        """
        return None
