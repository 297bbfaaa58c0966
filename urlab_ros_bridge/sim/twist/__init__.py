# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Twist controllers: how a commanded twist of the base becomes actuator setpoints."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from urlab_ros_bridge.sim.specs import TwistSpec
from urlab_ros_bridge.sim.twist.base import BadTwist
from urlab_ros_bridge.sim.twist.base import TwistController
from urlab_ros_bridge.sim.twist.base import TwistSetupError
from urlab_ros_bridge.sim.twist.differential import DifferentialTwist
from urlab_ros_bridge.sim.twist.omni import OmniTwist
from urlab_ros_bridge.sim.twist.planar import PlanarTwist
from urlab_ros_bridge.wire.errors import UnknownName

__all__ = [
    'BadTwist',
    'DifferentialTwist',
    'OmniTwist',
    'PlanarTwist',
    'TwistController',
    'TwistSetupError',
    'make_twist',
]

_CLASSES: tuple[type[TwistController], ...] = (DifferentialTwist, OmniTwist, PlanarTwist)


def make_twist(
    spec: TwistSpec, actuator_names: Sequence[str], model: mujoco.MjModel, actuator_ids: np.ndarray
) -> TwistController:
    """
    Return the twist controller of a sidecar.

    actuator_names: local names of the articulation's actuators, (nu_local,) in the order of
        `actuator_ids`, their ids in the compiled model.

    Raises
    ------
    UnknownName
        An actuator or the kind does not exist; the message lists the valid ones.
    TwistSetupError
        An actuator is no velocity actuator of the right joint, or the geometry is degenerate.
    """
    classes = {cls.kind: cls for cls in _CLASSES}
    if spec.kind not in classes:
        raise UnknownName('twist controller', spec.kind, classes)
    return classes[spec.kind](spec, actuator_names, model, actuator_ids)
