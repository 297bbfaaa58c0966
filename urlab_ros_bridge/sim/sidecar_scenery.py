# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Poses, objects and lights of a sidecar (docs/sidecar.md)."""

from __future__ import annotations

from collections.abc import Iterable
import math
import re
from typing import Any

from urlab_ros_bridge.sim.specs import LightSpec
from urlab_ros_bridge.sim.specs import ObjectSpec
from urlab_ros_bridge.sim.yaml_fields import Field

SHAPES = ('box', 'sphere', 'cylinder', 'plane', 'mesh')
PHYSICS = ('none', 'static', 'dynamic', 'mocap')
LIGHT_KINDS = ('directional', 'point', 'spot')
MESH_ENDINGS = ('.obj', '.stl')
MAX_THINGS = 10_000

_NAME = re.compile(r'[A-Za-z0-9_][A-Za-z0-9_.-]*')


def pose(field: Field | None) -> tuple[tuple, tuple]:
    """Return position (m) and unit quaternion (wxyz) of a pose; absent parts are the origin."""
    fields = field.mapping('pos', 'quat') if field else {}
    pos = fields['pos'].numbers(3) if 'pos' in fields else (0.0, 0.0, 0.0)
    quat = fields['quat'].numbers(4) if 'quat' in fields else (1.0, 0.0, 0.0, 0.0)
    norm = math.hypot(*quat)
    if not 1e-6 < norm < 1e6:
        raise fields['quat'].fail(f'{quat} is not a rotation: its norm is {norm:g}')
    return pos, tuple(part / norm for part in quat)


def objects(field: Field | None) -> tuple[ObjectSpec, ...]:
    """Return the things of a world that are no robots."""
    return _things(field, _object)


def lights(field: Field | None) -> tuple[LightSpec, ...]:
    """Return the lights that a world adds to its scene file."""
    return _things(field, _light)


def _things(field: Field | None, read: Any) -> tuple:
    found: list = []
    names: set[str] = set()
    for item in field.items() if field else ():
        if len(found) == MAX_THINGS:
            raise item.fail(f'there are more than {MAX_THINGS}')
        thing = read(item)
        if thing.name in names:
            raise item.child('name').fail(f'{thing.name!r} is taken by another one')
        names.add(thing.name)
        found.append(thing)
    return tuple(found)


def _object(item: Field) -> ObjectSpec:
    fields = item.mapping(
        'name',
        'actor_id',
        'shape',
        'file',
        'pose',
        'scale',
        'color',
        'physics',
        'friction',
        'density',
        'mass',
        'complex_mesh',
        'coacd_threshold',  # kept for editors; parts are the connected ones
    )
    present = {key: field for key, field in fields.items() if field.value is not None}
    shape = item.child('shape').choice(SHAPES)
    file = item.child('file').file() if shape == 'mesh' else None
    if file is not None and file.suffix.lower() not in MESH_ENDINGS:
        raise fields['file'].fail(f'a mesh ends with {" or ".join(MESH_ENDINGS)}')
    found: dict[str, Any] = {'file': file, **_common(item, present)}
    if 'scale' in present:
        found['scale'] = tuple(part.number(above=0.0) for part in _three(present['scale']))
    if 'color' in present:
        found['color'] = _color(present['color'], (3, 4))
    if 'physics' in present:
        found['physics'] = present['physics'].choice(PHYSICS)
    if 'friction' in present:
        found['friction'] = present['friction'].numbers(3, 0.0)
    for key in ('density', 'mass'):
        if key in present:
            found[key] = present[key].number(above=0.0)
    if 'complex_mesh' in present:
        found['complex_mesh'] = _flag(present['complex_mesh'])
    if 'coacd_threshold' in present:
        present['coacd_threshold'].number(0.0)
    return ObjectSpec(shape=shape, **found)


def _light(item: Field) -> LightSpec:
    fields = item.mapping('name', 'actor_id', 'kind', 'pose', 'intensity', 'color')
    present = {key: field for key, field in fields.items() if field.value is not None}
    found = _common(item, present)
    if 'kind' in present:
        found['kind'] = present['kind'].choice(LIGHT_KINDS)
    if 'intensity' in present:
        found['intensity'] = present['intensity'].number(0.0)
    if 'color' in present:
        found['color'] = _color(present['color'], (3,))
    return LightSpec(**found)


def _common(item: Field, present: dict[str, Field]) -> dict[str, Any]:
    name = item.child('name').text()
    if not _NAME.fullmatch(name):
        raise item.child('name').fail(f'{name!r} must hold letters, digits, _ . and - only')
    pos, quat = pose(present.get('pose'))
    actor_id = present['actor_id'].text() if 'actor_id' in present else name
    return {'name': name, 'actor_id': actor_id, 'pos': pos, 'quat': quat}


def _three(field: Field) -> list[Field]:
    parts = list(field.items())
    if len(parts) != 3:
        raise field.fail(f'must be a list of 3 numbers, not {len(parts)}')
    return parts


def _color(field: Field, lengths: Iterable[int]) -> tuple[float, ...]:
    parts = tuple(part.number(0.0, 1.0) for part in field.items())
    if len(parts) not in lengths:
        raise field.fail('must be [red, green, blue], each from 0 to 1')
    return parts if len(parts) == max(lengths) else (*parts, 1.0)


def _flag(field: Field) -> bool:
    if not isinstance(field.value, bool):
        raise field.fail(f'must be true or false, not {field.value!r:.40}')
    return field.value
