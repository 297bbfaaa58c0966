# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What stands in the world, by name: read and moved while it runs (extensions)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from urlab_ros_bridge.client import fields as f
from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.client.session import Session
from urlab_ros_bridge.wire.stamp import BadTime
from urlab_ros_bridge.wire.stamp import block_to_ns


@dataclass(frozen=True, slots=True)
class EntityState:
    """
    Where something is and how it moves, in the world frame.

    :ivar kind: ``articulation``, ``entity`` (a body with joints), ``mocap`` or ``static``.
    :ivar movable: whether `set_entity_state` takes it: free, or a mocap body.
    :ivar pos: origin of its body (of an articulation: its base) in m, shape (3,).
    :ivar quat: wxyz, shape (4,).
    :ivar linear: velocity of that origin in m/s, shape (3,).
    :ivar angular: rad/s, shape (3,).
    :ivar sim_time_ns: time of this state.
    :ivar bounds: least and greatest corner of a box around it in m, shape (2, 3); None when not
        asked for, or when it has no geometry that ends somewhere.
    """

    name: str
    kind: str
    movable: bool
    pos: np.ndarray
    quat: np.ndarray
    linear: np.ndarray
    angular: np.ndarray
    sim_time_ns: int
    bounds: np.ndarray | None = None


class EntityOps(Session):
    """The ops on entities: get_entities, set_entity_state."""

    def get_entities(
        self, names: Iterable[str] | None = None, bounds: bool = False
    ) -> dict[str, EntityState]:
        """
        Return the state of everything in the world by name, or of some.

        :param names: articulations by prefix, others by the name of their body; None: all.
        :param bounds: also the box around each.
        :raises UnknownBody: for a name that is not there; the message lists those that are.
        """
        wanted = None if names is None else list(names)
        if wanted == []:
            return {}
        reply = self.request('get_entities', entities=wanted, bounds=bounds or None)
        where = 'get_entities_ok'
        time_ns = _time(reply, where)
        states = [_state(item, time_ns, where) for item in f.maps(reply, 'entities', where)]
        return {state.name: state for state in states}

    def set_entity_state(
        self,
        entity: str,
        *,
        pos: Iterable[float] | None = None,
        quat: Iterable[float] | None = None,
        linear: Iterable[float] | None = None,
        angular: Iterable[float] | None = None,
    ) -> EntityState:
        """
        Move something that is free, or a mocap body; what is None stays; return the state after.

        :param pos: m, shape (3,), `quat` wxyz, `linear` m/s, `angular` rad/s: all in the world
            frame.
        :raises UnknownBody: there is nothing of this name.
        :raises BadValue: it cannot be moved, the quaternion is 0, a number is not finite.
        """
        given = {'pos': pos, 'quat': quat, 'linear': linear, 'angular': angular}
        vectors = {
            name: [float(value) for value in values]
            for name, values in given.items()
            if values is not None
        }
        reply = self.request('set_entity_state', entity=entity, **vectors)
        where = 'set_entity_state_ok'
        return _state(reply, _time(reply, where), where)


def _time(reply: dict[str, Any], where: str) -> int:
    try:
        return block_to_ns(reply.get('sim_time'))
    except BadTime as error:
        raise ProtocolError(f'{where}.sim_time: {error}') from error


def _state(item: dict[str, Any], time_ns: int, where: str) -> EntityState:
    corners = f.mapping(item, 'bounds', where)
    return EntityState(
        f.text(item, 'name', where),
        f.text(item, 'kind', where),
        f.flag(item, 'movable', where),
        *(f.vector(item, key, where) for key in ('pos', 'quat', 'linear', 'angular')),
        time_ns,
        np.array([f.vector(corners, key, where) for key in ('min', 'max')]) if corners else None,
    )
