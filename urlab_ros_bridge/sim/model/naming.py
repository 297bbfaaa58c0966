# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Default names for the unnamed elements of an MJCF file.

A client finds the members of an articulation by their compiled names (``{prefix}_...``), so a
joint without a name would be invisible to it and shift every array.  The default names are those
that the stock plugin gives.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from typing import Any

import mujoco

from urlab_ros_bridge.wire.names import numbered

_JOINT_NAMES = {
    mujoco.mjtJoint.mjJNT_FREE: 'FreeJoint',
    mujoco.mjtJoint.mjJNT_BALL: 'BallJoint',
    mujoco.mjtJoint.mjJNT_SLIDE: 'SlideJoint',
    mujoco.mjtJoint.mjJNT_HINGE: 'HingeJoint',
}


def names_with(spec: mujoco.MjSpec, prefix: str) -> list[str]:
    """Return the names in a spec that begin with the prefix of a robot."""
    return [
        element.name
        for elements in (spec.bodies[1:], spec.joints, spec.actuators, spec.sensors)
        for element in elements
        if element.name.startswith(f'{prefix}_')
    ]


def name_unnamed(spec: mujoco.MjSpec) -> None:
    """Give every unnamed body, joint, site, camera, actuator and sensor a name of its own."""
    _fill(spec.bodies[1:], lambda body: 'Body')
    _fill(spec.joints, lambda joint: _JOINT_NAMES[joint.type])
    _fill(spec.sites, lambda site: 'Site')
    _fill(spec.cameras, lambda camera: 'Camera')
    _fill(spec.actuators, lambda actuator: actuator.target or 'Actuator')
    _fill(spec.sensors, lambda sensor: sensor.type.name.removeprefix('mjSENS_').lower())


def _fill(elements: list[Any], default: Callable[[Any], str]) -> None:
    taken = {element.name for element in elements if element.name}
    # One counter for each default: there may be very many elements.
    free: dict[str, Iterator[str]] = {}
    for element in elements:
        if element.name:
            continue
        names = free.setdefault(default(element), numbered(default(element)))
        element.name = next(name for name in names if name not in taken)
        taken.add(element.name)
