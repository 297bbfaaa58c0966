# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""scene_state: one frame as sent to all clients, as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from typing import Any

from urlab_ros_bridge.gateways.virtual_field.scene.arms import ArmShape


@dataclass(frozen=True, slots=True)
class Ownership:
    """
    Which user has which arm.

    :ivar version: of these owners; grows with every change.
    :ivar arm_ids: of each arm of the world; `owners` its user id, None for one that is free.
    :ivar users: user id -> ids of the arms, in order.
    """

    version: int
    arm_ids: tuple[str, ...]
    owners: tuple[str | None, ...]
    users: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def arms_json(
    shapes: Sequence[ArmShape], ownership: Ownership
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the arms of scene_state by id, and the haptics of the arms that users have."""
    states, haptics = {}, []
    for shape, arm_id, owner in zip(shapes, ownership.arm_ids, ownership.owners, strict=True):
        states[arm_id] = {
            'arm_id': arm_id,
            'owner_user_id': owner,
            **shape.json,
            'contact_points': shape.contacts,
        }
        if owner is not None:
            touches = bool(shape.contacts)
            haptics.append(
                {'arm_id': arm_id, 'active': touches, 'intensity': 1.0 if touches else 0.0}
            )
    return states, haptics


def scene_json(
    time: object,
    arms: tuple[dict[str, Any], list[dict[str, Any]]],
    users: Mapping[str, Sequence[str]],
    meshes: Mapping[str, Any],
    overlays: Mapping[str, Any],
    spheres: Mapping[str, Any],
) -> dict[str, Any]:
    """
    Return the payload of scene_state.

    :param time: simulated seconds, or what stands for them.
    """
    return {
        'timestamp': time,
        'arms': arms[0],
        'scenery': {},
        'user_arms': users,
        'meshes': meshes,
        'overlay_points': overlays,
        'spheres': spheres,
        'haptics': arms[1],
    }


__all__ = ['Ownership', 'arms_json', 'scene_json']
