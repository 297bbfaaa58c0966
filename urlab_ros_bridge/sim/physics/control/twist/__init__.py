# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Twist controllers: what holds the commanded twist of a base, and may drive its actuators."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from urlab_ros_bridge.sim.model.sidecar.twists import NO_TWIST
from urlab_ros_bridge.sim.model.sidecar.twists import TWIST_KINDS
from urlab_ros_bridge.sim.model.sidecar.twists import TwistSpec
from urlab_ros_bridge.sim.physics.control.controllers import Controller
from urlab_ros_bridge.sim.physics.control.twist.controller import BadTwist
from urlab_ros_bridge.sim.physics.control.twist.controller import TwistController
from urlab_ros_bridge.sim.physics.control.twist.drive import AckermannTwist
from urlab_ros_bridge.sim.physics.control.twist.drive import DifferentialTwist
from urlab_ros_bridge.sim.physics.control.twist.drive import DriveTwist
from urlab_ros_bridge.sim.physics.control.twist.drive import OmniTwist
from urlab_ros_bridge.sim.physics.control.twist.drive import PlanarTwist
from urlab_ros_bridge.sim.physics.control.twist.drive import TwistSetupError
from urlab_ros_bridge.sim.physics.control.twist.trot import TrotTwist
from urlab_ros_bridge.wire.errors import UnknownName

__all__ = [
    'AckermannTwist',
    'BadTwist',
    'DifferentialTwist',
    'DriveTwist',
    'OmniTwist',
    'PlanarTwist',
    'TrotTwist',
    'TwistController',
    'TwistSetupError',
    'make_twist',
]

_DRIVES: tuple[type[DriveTwist], ...] = (
    DifferentialTwist,
    AckermannTwist,
    OmniTwist,
    PlanarTwist,
)


def make_twist(
    spec: TwistSpec,
    actuator_names: Sequence[str],
    model: mujoco.MjModel,
    actuator_ids: np.ndarray,
    controller: Controller | None = None,
) -> TwistController | None:
    """
    Return the twist controller of a sidecar, None for the kind `none`.

    actuator_names: local names of the articulation's actuators, (nu_local,) in the order of
        `actuator_ids`, their ids in the compiled model.
    controller: what turns setpoints into controls, where there is one.

    Raises
    ------
    UnknownName
        An actuator or the kind does not exist; the message lists the valid ones.
    TwistSetupError
        An actuator is not a velocity actuator of the right joint, or the geometry is degenerate.
    """
    if spec.kind == NO_TWIST:
        return None
    if spec.kind == TwistController.kind:
        return TwistController(spec)
    if spec.kind == TrotTwist.kind:
        return TrotTwist(spec, actuator_names, model, actuator_ids, controller)
    drives = {cls.kind: cls for cls in _DRIVES}
    if spec.kind not in drives:
        raise UnknownName('twist controller', spec.kind, TWIST_KINDS)
    return drives[spec.kind](spec, actuator_names, model, actuator_ids)
