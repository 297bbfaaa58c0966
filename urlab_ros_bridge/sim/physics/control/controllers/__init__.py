# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Controllers: how the setpoints of an articulation become MuJoCo controls."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from urlab_ros_bridge.sim.physics.control.controllers.base import Controller
from urlab_ros_bridge.sim.physics.control.controllers.base import InvalidControllerParameters
from urlab_ros_bridge.sim.physics.control.controllers.passthrough import PassthroughController
from urlab_ros_bridge.sim.physics.control.controllers.pd import PdController

__all__ = [
    'Controller',
    'InvalidControllerParameters',
    'PassthroughController',
    'PdController',
    'make_controller',
]

_CLASSES: tuple[type[Controller], ...] = (PdController, PassthroughController)


def make_controller(
    spec: dict | None,
    model: mujoco.MjModel,
    actuator_ids: np.ndarray,
    actuator_names: Sequence[str],
) -> Controller | None:
    """
    Return the controller that a sidecar asks for, or None if it asks for none.

    spec: {kind, and the parameters of that kind}; the names in it are local actuator names.

    Raises
    ------
    InvalidControllerParameters
        The kind or a parameter is unknown, or a value is out of range.
    """
    if spec is None:
        return None
    classes = {cls.kind: cls for cls in _CLASSES}
    kind = spec.get('kind')
    if kind not in classes:
        raise InvalidControllerParameters('kind', f'{kind!r} is unknown', 'kind', classes)
    return classes[kind](model, actuator_ids, actuator_names, spec)
