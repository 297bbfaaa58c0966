# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""get_contacts: the active contacts, filtered by exact compiled names."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.registry import Registry
from urlab_ros_bridge.sim.requests.registry import ReplyFields
from urlab_ros_bridge.sim.requests.sessions import ServerSession
from urlab_ros_bridge.sim.simulation import Simulation

DEFAULT_MAX = 64
_FILTER_KEYS = ('geom1', 'geom2', 'body1', 'body2')


def get_contacts(simulation: Simulation, session: ServerSession, fields: Fields) -> ReplyFields:
    """
    Return contacts with position, normal, distance (m) and force.

    `force` is [fx, fy, fz, tx, ty, tz] in the contact frame, `normal` that frame's first row, in
    the world; `dist` is negative when penetrating.  The filter is ordered: body1 is geom1's body.
    All of it is of the present state, forces under the present ctrl.
    """
    model, data = simulation.world.model, simulation.engine.data_with_contact_forces()
    limit = fields.integer('max_contacts', DEFAULT_MAX)
    limit = limit if limit > 0 else DEFAULT_MAX
    part = Fields(fields.mapping('filter'), 'filter.')
    wanted = {key: part.string(key) for key in _FILTER_KEYS if part.string(key)}
    found: list[dict[str, Any]] = []
    truncated = False
    for index in range(data.ncon):
        contact = data.contact[index]
        names = _names(model, contact)
        if any(names[key] != name for key, name in wanted.items()):
            continue
        if len(found) == limit:
            truncated = True
            break
        force = np.zeros(6)
        mujoco.mj_contactForce(model, data, index, force)
        found.append(
            {
                **names,
                'pos': contact.pos.tolist(),
                'normal': contact.frame[:3].tolist(),
                'dist': float(contact.dist),
                'force': force.tolist(),
            }
        )
    return {'n_contacts': len(found), 'truncated': truncated, 'contacts': found}


def _names(model: mujoco.MjModel, contact: Any) -> dict[str, str]:
    names = {}
    for side, geom in ((1, int(contact.geom[0])), (2, int(contact.geom[1]))):
        is_geom = geom >= 0  # flexes collide too, and have no geom
        names[f'geom{side}'] = model.geom(geom).name if is_geom else ''
        names[f'body{side}'] = model.body(model.geom_bodyid[geom]).name if is_geom else ''
    return names


def register(registry: Registry) -> None:
    """Add the ops of this module."""
    registry.register(get_contacts)
