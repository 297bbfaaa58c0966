# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The entities of the world, by name: read, moved, spawned and deleted while it runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from urlab_ros_bridge.client.replies.reader import read_field
from urlab_ros_bridge.client.replies.reader import read_reply
from urlab_ros_bridge.client.replies.reader import read_time
from urlab_ros_bridge.client.session import Session
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.schema import Place
from urlab_ros_bridge.schema.lenient import read_lenient

SPAWN_TIMEOUT = 30.0  # s; a compiler may have meshes to work on


@dataclass(frozen=True, slots=True)
class _BoundsBox:
    low: np.ndarray = key(wire='min', length=3)
    high: np.ndarray = key(wire='max', length=3)


def _corners(place: Place) -> np.ndarray | None:
    box = read_lenient(_BoundsBox, place)
    return np.array([box.low, box.high]) if place.value else None


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
    sim_time_ns: int = key(wire='sim_time', parse=read_time)
    spawned: bool = False
    bounds: np.ndarray | None = key(None, parse=_corners)
    body_bounds: np.ndarray | None = key(None, parse=_corners)


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
        time = reply.get('sim_time')
        states = [
            read_reply(EntityState, {'sim_time': time, **item}, 'get_entities_ok')
            for item in read_field(reply, 'entities', tuple[dict[str, Any], ...])
        ]
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
        vectors: dict[str, Any] = {
            name: [float(value) for value in values]
            for name, values in given.items()
            if values is not None
        }
        reply = self.request('set_entity_state', entity=entity, **vectors)
        return read_reply(EntityState, reply)

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
        :raises NameTaken: the message suggests another one; `NameInvalid` gives the reason.
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
        return read_reply(EntityState, reply)

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
            self.absorb(read_field(reply, 'handshake_payload', dict[str, Any]))
        return reply
