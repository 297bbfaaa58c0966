# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Shared by the editor's ops: reading requests, and actors as replies list them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from urlab_ros_bridge.editor.drawings import Color
from urlab_ros_bridge.editor.editor import LevelEditor
from urlab_ros_bridge.editor.editor import SCENE_BODY
from urlab_ros_bridge.editor.level import Level
from urlab_ros_bridge.editor.level import LevelActor
from urlab_ros_bridge.editor.level import UNTITLED
from urlab_ros_bridge.editor.transforms import as_vector
from urlab_ros_bridge.geometry import Vector
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.model.sidecar.readers import SidecarError
from urlab_ros_bridge.sim.requests.fields import bad_value
from urlab_ros_bridge.sim.requests.fields import Fields

MAX_ID = 100  # characters of an actor id or name


@contextmanager
def failing_as(code: str) -> Iterator[None]:
    """Raise errors of files and of the compiler with the op's own error code."""
    try:
        yield
    except (WorldError, SidecarError) as error:
        raise OpError(code, str(error)) from error


def text_of(fields: Fields, name: str) -> str:
    """
    Return a text that must not be absent or empty.

    :raises OpError: missing_field or bad_value.
    """
    text = fields.string(name)
    if not text:
        raise OpError('missing_field', f'{name} (it is empty)')
    return text


def actor_id_of(fields: Fields, name: str = 'actor_id') -> str:
    """
    Return an actor id, '' when it is absent.

    :raises OpError: bad_value.
    """
    text = fields.string(name)
    if len(text) > MAX_ID or not text.isprintable():
        raise bad_value(name, text, f'at most {MAX_ID} printable characters')
    return text


def target_of(editor: LevelEditor, fields: Fields) -> LevelActor:
    """
    Return the actor that `target` names: by its id, or its name with target_by actor_name.

    :raises OpError: unknown_actor, listing the actors.
    """
    by_name = fields.string('target_by').lower() == 'actor_name'
    return editor.find(text_of(fields, 'target'), by_name)


def color_of(fields: Fields, default: Color) -> Color:
    """
    Return `color`: red, green, blue, clamped to [0, 1] as the stock plugin does.

    :raises OpError: bad_value.
    """
    color = fields.vector('color', size=3)
    if color is None:
        return default
    return as_vector(np.clip(color, 0.0, 1.0))


def three(fields: Fields, name: str, default: Vector) -> Vector:
    """
    Return a field of three numbers.

    :raises OpError: bad_value.
    """
    values = fields.vector(name, size=3)
    return default if values is None else as_vector(values)


DEFAULT_COACD = 0.05  # stock plugin's default; kept for its clients


def classes(editor: LevelEditor, actor: LevelActor) -> list[str]:
    """Return the class of an actor, then the more general ones."""
    if actor.kind == 'robot':
        blueprint = editor.library.of('robot', actor.settings)
        return [blueprint.class_name, 'MjArticulation', 'Actor']
    if actor.kind == 'light':
        return [actor.light_class, 'Light', 'Actor']
    return ['SceneBody' if actor.kind == SCENE_BODY else 'StaticMeshActor', 'Actor']


def actor_path(level: Level, name: str) -> str:
    """Return the path of an actor in its level, as the Unreal engine writes it."""
    return f'{level.path or UNTITLED}:PersistentLevel.{name}'


def level_path(level: Level) -> str:
    """Return the file of a level, '' if it has none yet."""
    return str(level.path) if level.path else ''


def pose_fields(actor: LevelActor) -> dict[str, Any]:
    """Return location (m) and rotation (x, y, z, w)."""
    return {'location': list(actor.pose.position), 'rotation_quat': list(actor.pose.orientation)}


def identity_fields(editor: LevelEditor, actor: LevelActor) -> dict[str, Any]:
    """Return the fields in the reply of every op that makes an actor."""
    return {
        'actor_id': actor.actor_id,
        'actor_name': actor.name,
        'actor_path': actor_path(editor.level, actor.name),
    }


def row(editor: LevelEditor, actor: LevelActor) -> dict[str, Any]:
    """Return an actor as list_actors has it."""
    fields: dict[str, Any] = {
        'name': actor.name,
        'label': actor.actor_id or actor.name,
        'class': classes(editor, actor)[0],
        'actor_id': actor.actor_id,
        'is_articulation': actor.kind == 'robot',
        'is_static_mesh_actor': actor.kind == 'object',
        'is_light': actor.kind == 'light',
        **pose_fields(actor),
        'tags': actor.tags if actor.actor_id else [],
        'has_quick_convert': actor.physics != 'none',
        'selected': actor.name == editor.selected,
    }
    if actor.physics != 'none':
        fields['quick_convert'] = quick_convert(actor)
    return fields


def quick_convert(actor: LevelActor) -> dict[str, Any]:
    """Return the settings of a converted object."""
    return {
        'static': actor.physics == 'static',
        'complex_mesh': bool(actor.settings.get('complex_mesh', False)),
        'coacd_threshold': float(actor.settings.get('coacd_threshold', DEFAULT_COACD)),
        'driven_by_unreal': actor.physics == 'mocap',
        'friction': list(actor.settings.get('friction', (1.0, 0.005, 0.0001))),
    }


def snapshot_row(editor: LevelEditor, actor: LevelActor) -> dict[str, Any]:
    """Return an actor as snapshot has it: for a robot also its members' local names."""
    fields = row(editor, actor)
    if actor.kind == 'robot':
        try:
            members = editor.geometry.of(actor).members
        except (WorldError, SidecarError):
            members = {}  # its file is broken; begin_pie reports why
        fields['urlab'] = {'mj_class': 'articulation', **members}
    return fields


def hierarchy(editor: LevelEditor, actor: LevelActor) -> dict[str, Any]:
    """Return an actor and, below it, the tree of its bodies."""
    root: dict[str, Any] = {
        'name': actor.name,
        'class': classes(editor, actor)[0],
        'children': [],
        'location': list(actor.pose.position),
    }
    if actor.kind in ('light', SCENE_BODY):
        return root
    nodes: list[dict[str, Any]] = []
    for body in editor.geometry.of(actor).bodies:
        place = actor.pose.then(body.pose).position
        node = {'name': body.name, 'class': 'MjBody', 'location': list(place), 'children': []}
        nodes.append(node)
        parent = root if body.parent < 0 else nodes[body.parent]
        if body.name != 'actor':
            parent['children'].append(node)
    return root
