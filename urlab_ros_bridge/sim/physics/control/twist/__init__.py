# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Twist controllers: what holds the commanded twist of a base, and may drive its actuators."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from urlab_ros_bridge.sim.model.sidecar.twists import AckermannSection
from urlab_ros_bridge.sim.model.sidecar.twists import DifferentialSection
from urlab_ros_bridge.sim.model.sidecar.twists import HeldSection
from urlab_ros_bridge.sim.model.sidecar.twists import OmniSection
from urlab_ros_bridge.sim.model.sidecar.twists import PlanarSection
from urlab_ros_bridge.sim.model.sidecar.twists import RefusedSection
from urlab_ros_bridge.sim.model.sidecar.twists import TrotSection
from urlab_ros_bridge.sim.model.sidecar.twists import TwistSection
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

_DRIVES: dict[type[TwistSection], type[DriveTwist]] = {
    DifferentialSection: DifferentialTwist,
    AckermannSection: AckermannTwist,
    OmniSection: OmniTwist,
    PlanarSection: PlanarTwist,
}


def make_twist(
    spec: TwistSection,
    actuator_names: Sequence[str],
    model: mujoco.MjModel,
    actuator_ids: np.ndarray,
    controller: Controller | None = None,
) -> TwistController | None:
    """
    Return the twist controller of a sidecar, None where it takes none.

    actuator_names: local names of the articulation's actuators, (nu_local,) in the order of
        `actuator_ids`, their ids in the compiled model.
    controller: what turns setpoints into controls, where there is one.

    Raises
    ------
    UnknownName
        An actuator does not exist; the message lists the valid ones.
    TwistSetupError
        An actuator is not a velocity actuator of the right joint, or the geometry is degenerate.
    """
    if isinstance(spec, RefusedSection):
        return None
    if isinstance(spec, HeldSection):
        return TwistController(spec)
    if isinstance(spec, TrotSection):
        return TrotTwist(spec, actuator_names, model, actuator_ids, controller)
    return _DRIVES[type(spec)](spec, actuator_names, model, actuator_ids)
