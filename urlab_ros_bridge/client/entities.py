# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What stands in the world, by name: read, moved, spawned and deleted while it runs."""

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

SPAWN_TIMEOUT = 30.0  # s; a compiler may have meshes to work on


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
    :ivar spawned: it came while the world ran.
    :ivar bounds: least and greatest corner of a box around it in m, shape (2, 3); None when not
        asked for, or when it has no geometry that ends somewhere.
    :ivar body_bounds: likewise of a box along the axes of its body, in the frame of its body.
    """

    name: str
    kind: str
    movable: bool
    pos: np.ndarray
    quat: np.ndarray
    linear: np.ndarray
    angular: np.ndarray
    sim_time_ns: int
    spawned: bool = False
    bounds: np.ndarray | None = None
    body_bounds: np.ndarray | None = None


class EntityOps(Session):
    """The ops on entities: get_entities, set_entity_state, spawn_entity, delete_entity."""

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

    def spawn_entity(
        self,
        name: str = '',
        *,
        xml: str | None = None,
        file: str | None = None,
        pos: Iterable[float] | None = None,
        quat: Iterable[float] | None = None,
        kind: str | None = None,
        allow_renaming: bool = False,
        timeout: float = SPAWN_TIMEOUT,
    ) -> EntityState:
        """
        Put a model into the running world; the client's handshake is that of the new world then.

        Other sessions expire; shared ones say hello again by themselves.

        :param name: a letter, then letters, digits and ``_``; '' only with `allow_renaming`.
        :param xml: MJCF or URDF.
        :param file: in its place a file of the server: of its data folder (MJCF, URDF, or a
            sidecar with one robot) or of the bundled models (``rover.yaml``).
        :param pos: where the origin of the model's file goes, m in the world; `quat` wxyz.
        :param kind: ``entity`` or ``articulation``; None: an entity, unless the model has
            actuators, joints but that of a free root, or several roots.
        :param allow_renaming: take a similar name when this one cannot be had.
        :return: its state; `name` is the name that it got.
        :raises NameTaken: the message suggests another one; `NameInvalid` says why.
        :raises ImportFailed: with the first line of what the compiler says.
        :raises MissingAssets: a mesh, height field or texture is not there.
        :raises PathNotReadable: `file` is not there.
        """
        given = {'pos': pos, 'quat': quat}
        vectors = {
            key: [float(value) for value in values]
            for key, values in given.items()
            if values is not None
        }
        reply = self._change(
            'spawn_entity',
            timeout,
            name=name or None,
            xml=xml,
            file=file,
            kind=kind,
            allow_renaming=allow_renaming or None,
            **vectors,
        )
        where = 'spawn_entity_ok'
        return _state(reply, _time(reply, where), where)

    def delete_entity(self, entity: str, timeout: float = SPAWN_TIMEOUT) -> None:
        """
        Take something out of the running world; sessions as with `spawn_entity`.

        :param entity: an articulation by prefix, or a body that stands directly in the world.
        :raises UnknownBody: there is nothing of this name.
        :raises DestroyFailed: it is a part of something, or something depends on it.
        """
        self._change('delete_entity', timeout, entity=entity)

    def _change(self, op: str, timeout: float, **fields: Any) -> dict[str, Any]:
        """Send a request whose reply holds a new handshake."""
        with self.exclusive():
            reply = self.request(op, timeout, **fields)
            self.absorb(f.mapping(reply, 'handshake_payload', f'{op}_ok'))
        return reply


def _time(reply: dict[str, Any], where: str) -> int:
    try:
        return block_to_ns(reply.get('sim_time'))
    except BadTime as error:
        raise ProtocolError(f'{where}.sim_time: {error}') from error


def _state(item: dict[str, Any], time_ns: int, where: str) -> EntityState:
    return EntityState(
        f.text(item, 'name', where),
        f.text(item, 'kind', where),
        f.flag(item, 'movable', where),
        *(f.vector(item, key, where) for key in ('pos', 'quat', 'linear', 'angular')),
        time_ns,
        f.flag(item, 'spawned', where),
        *(_corners(item, key, where) for key in ('bounds', 'body_bounds')),
    )


def _corners(item: dict[str, Any], name: str, where: str) -> np.ndarray | None:
    box = f.mapping(item, name, where)
    return np.array([f.vector(box, key, where) for key in ('min', 'max')]) if box else None
