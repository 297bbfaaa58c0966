# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Requests of publishers: meshes and points in the scene of all clients."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from typing import TypeAlias

from urlab_ros_bridge.gateways.virtual_field.errors import BadMessage
from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import Envelope
from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import shown
from urlab_ros_bridge.gateways.virtual_field.protocol.fields import IDENTITY
from urlab_ros_bridge.gateways.virtual_field.protocol.fields import ORIGIN
from urlab_ros_bridge.gateways.virtual_field.protocol.fields import PayloadFields
from urlab_ros_bridge.gateways.virtual_field.protocol.fields import Quaternion
from urlab_ros_bridge.gateways.virtual_field.protocol.fields import Vector
from urlab_ros_bridge.gateways.virtual_field.protocol.fields import vector
from urlab_ros_bridge.gateways.virtual_field.protocol.foreign_gltf import GLB
from urlab_ros_bridge.gateways.virtual_field.protocol.foreign_gltf import rewrite_gltf

ONE: Vector = (1.0, 1.0, 1.0)
POINT_SIZE = 0.008
MAX_POINTS = 8192


# The kinds of publications; the wire has ``{kind}_id`` and ``{kind}_ack``.
MESH, OVERLAY = 'mesh', 'overlay'


@dataclass(frozen=True, slots=True)
class AddMesh:
    """A mesh to add, or to replace one of the same owner: metres, y up, rotation x y z w."""

    mesh_id: str
    asset_uri: str
    translation: Vector = ORIGIN
    rotation: Quaternion = IDENTITY
    scale: Vector = ONE
    visible: bool = True
    static_asset: bool = False


@dataclass(frozen=True, slots=True)
class MoveMesh:
    """Changes of a mesh: fields of scene_state that get other values."""

    mesh_id: str
    changes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SetPoints:
    """Points, shape k x 3 in metres, y up; they replace those of the same id."""

    overlay_id: str
    points: tuple[tuple[float, ...], ...]
    point_size: float
    visible: bool


@dataclass(frozen=True, slots=True)
class Remove:
    """A mesh or points to remove; `item_id` None: all of the owner."""

    kind: str
    item_id: str | None = None


Publication: TypeAlias = AddMesh | MoveMesh | SetPoints | Remove


def read_publication(envelope: Envelope) -> Publication:
    """
    Read a message of a publisher other than hello and heartbeat.

    :raises BadMessage: for fields that are missing, of the wrong kind or size.
    """
    return _READERS[envelope.type](PayloadFields(envelope.payload))


def _add_mesh(fields: PayloadFields) -> AddMesh:
    _need(fields, 'add_mesh', 'mesh_id', 'mesh_data_b64')
    mesh_id = fields.name('mesh_id')
    kind = fields.text('mime_type', GLB)
    text = fields.need('mesh_data_b64')
    if not isinstance(text, str):
        raise BadMessage(f'mesh_data_b64 must be a string, got {shown(text)}')
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadMessage(f'mesh_data_b64: {error}') from None
    whole = rewrite_gltf(data, kind)
    uri = f'data:{GLB};base64,{base64.b64encode(whole).decode()}'
    return AddMesh(
        mesh_id,
        uri,
        fields.vector('translation', 3, ORIGIN),
        fields.quaternion('rotation_xyzw', IDENTITY),
        fields.vector('scale', 3, ONE),
        fields.flag('visible', True),
        fields.flag('static_asset', False),
    )


def _move_mesh(fields: PayloadFields) -> MoveMesh:
    _need(fields, 'update_mesh_transform', 'mesh_id')
    readers: dict[str, Callable[[str], Any]] = {
        'translation': lambda name: fields.vector(name, 3),
        'rotation_xyzw': fields.quaternion,
        'scale': lambda name: fields.vector(name, 3),
        'visible': lambda name: fields.flag(name, True),
    }
    changes = {name: read(name) for name, read in readers.items() if name in fields}
    return MoveMesh(fields.name('mesh_id'), changes)


def _set_points(fields: PayloadFields) -> SetPoints:
    _need(fields, 'update_overlay_points', 'overlay_id')
    points = fields.values.get('points', [])
    if not isinstance(points, list):
        raise BadMessage('points must be a list of [x, y, z]')
    if len(points) > MAX_POINTS:
        raise BadMessage(f'points has {len(points)} elements, more than {MAX_POINTS}')
    size = fields.number('point_size', POINT_SIZE)
    if size <= 0:
        raise BadMessage('point_size must be > 0')
    return SetPoints(
        fields.name('overlay_id'),
        tuple(vector(point, f'points[{index}]', 3) for index, point in enumerate(points)),
        size,
        fields.flag('visible', True),
    )


def _remove(fields: PayloadFields, request: str, kind: str) -> Remove:
    _need(fields, request, f'{kind}_id')
    return Remove(kind, fields.name(f'{kind}_id'))


def _need(fields: PayloadFields, request: str, *names: str) -> None:
    if any(name not in fields for name in names):
        raise BadMessage(f'{request} requires {" and ".join(names)}')


_READERS: dict[str, Callable[[PayloadFields], Publication]] = {
    'add_mesh': _add_mesh,
    'update_mesh_transform': _move_mesh,
    'remove_mesh': lambda fields: _remove(fields, 'remove_mesh', MESH),
    'clear_meshes': lambda _: Remove(MESH),
    'update_overlay_points': _set_points,
    'remove_overlay_points': lambda fields: _remove(fields, 'remove_overlay_points', OVERLAY),
    'clear_overlay_points': lambda _: Remove(OVERLAY),
}
PUBLICATIONS = tuple(_READERS)

__all__ = [
    'MESH', 'OVERLAY', 'PUBLICATIONS', 'AddMesh', 'MoveMesh', 'Publication', 'Remove', 'SetPoints',
    'read_publication',
]  # fmt: skip
