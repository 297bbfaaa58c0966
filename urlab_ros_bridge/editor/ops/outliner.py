# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Looking actors up, and turning static meshes into bodies (namespace outliner)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from urlab_ros_bridge.editor.editor import LevelEditor
from urlab_ros_bridge.editor.editor import SCENE_BODY
from urlab_ros_bridge.editor.level import LevelActor
from urlab_ros_bridge.editor.ops import common
from urlab_ros_bridge.editor.ops.common import failing_as
from urlab_ros_bridge.editor.ops.common import target_of
from urlab_ros_bridge.editor.ops.common import three
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.requests.fields import bad_value
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.registry import ReplyFields
from urlab_ros_bridge.sim.requests.sessions import ServerSession

STOCK_FRICTION = (1.0, 1.0, 1.0)  # of a converted mesh in the stock plugin
_CONVERTED = ('physics', 'complex_mesh', 'coacd_threshold', 'friction')


def list_actors(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """Return the actors of the level, at their poses in it."""
    actors = [common.row(editor, actor) for actor in editor.level.actors]
    return {'actors': actors, 'in_pie': editor.in_pie}


def find_actors(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """
    Return the actors that pass every given filter: class_filter, tag, name_prefix.

    With `in_pie` those of the running world, where they are now, if there is one.
    """
    live = fields.boolean('in_pie') and editor.in_pie
    wanted = fields.string('class_filter').lower()
    tag, start = fields.string('tag'), fields.string('name_prefix')
    actors = editor.live_actors() if live else list(editor.level.actors)
    found = []
    for actor in actors:
        line = common.row(editor, actor)
        if tag and tag not in line['tags']:
            continue
        if actor.name.startswith(start) and _is_a(editor, actor, wanted):
            found.append(line)
    return {'actors': found, 'in_pie': live}


def _is_a(editor: LevelEditor, actor: LevelActor, wanted: str) -> bool:
    """Compare classes as the stock plugin: any case, with or without the prefix A, U or F."""
    names = {name.lower() for name in common.classes(editor, actor)}
    return not wanted or wanted in names or (wanted[0] in 'auf' and wanted[1:] in names)


def get_actor_bounds(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """
    Return the world's axis-aligned box around an actor, m; extents are half sizes.

    `components_only`: only geoms that can collide.  Extension `in_pie`: in the running world.
    """
    target = target_of(editor, fields)
    with failing_as('get_actor_bounds_failed'):
        bounds = editor.bounds(target, fields.boolean('in_pie'), fields.boolean('components_only'))
    if bounds is None:
        raise OpError('no_bounds', f'{target.name} has no bounded geometry')
    low, high = bounds
    return {
        'actor_name': target.name,
        'min': low.tolist(),
        'max': high.tolist(),
        'center': ((low + high) / 2).tolist(),
        'extents': ((high - low) / 2).tolist(),
    }


def select_actor(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """Select one actor; the others are deselected."""
    target = target_of(editor, fields)
    editor.selected = target.name
    return {'target': fields.string('target'), 'actor_name': target.name}


def list_blueprints(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """Return the blueprints for spawn_actor."""
    return {
        'blueprints': [
            {
                'blueprint_class_path': item.class_path,
                'blueprint_short_name': item.name,
                'package_path': item.package,
                'parent_class': 'MjArticulation' if item.kind == 'robot' else 'StaticMeshActor',
            }
            for item in editor.library.all()
        ]
    }


def add_quick_convert(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """
    Make an object take part in physics from the next start of play.

    `static`: it collides; `driven_by_unreal`: a mocap body that clients move; neither: a free
    body.  `complex_mesh`: each connected part of the mesh has a hull of its own.
    """
    target = _object(editor, fields, 'add_quick_convert_failed')
    static, driven = fields.boolean('static'), fields.boolean('driven_by_unreal')
    friction = three(fields, 'friction', STOCK_FRICTION)
    if min(friction) < 0:
        raise bad_value('friction', list(friction), 'three numbers, 0 or more')
    settings = {
        **target.settings,
        'physics': 'static' if static else 'mocap' if driven else 'dynamic',
        'complex_mesh': fields.boolean('complex_mesh'),
        'coacd_threshold': fields.number('coacd_threshold', common.DEFAULT_COACD, low=0.0),
        'friction': list(friction),
    }
    converted = replace(target, settings=settings)
    with failing_as('add_quick_convert_failed'):
        editor.geometry.of(converted)
    return {**_replaced(editor, fields, converted), **common.quick_convert(converted)}


def remove_quick_convert(
    editor: LevelEditor, session: ServerSession, fields: Fields
) -> ReplyFields:
    """Make an object visual-only from the next start of play."""
    target = _object(editor, fields, 'remove_quick_convert_failed')
    if target.physics == 'none':
        raise OpError('remove_quick_convert_failed', f'{target.name} is not a converted object')
    settings = {key: value for key, value in target.settings.items() if key not in _CONVERTED}
    return _replaced(editor, fields, replace(target, settings=settings))


def _object(editor: LevelEditor, fields: Fields, code: str) -> LevelActor:
    target = target_of(editor, fields)
    if target.kind != 'object':
        what = {'robot': 'already an articulation', SCENE_BODY: 'a body of the scene file'}
        raise OpError(code, f'{target.name} is {what.get(target.kind, "a light")}')
    return target


def _replaced(editor: LevelEditor, fields: Fields, actor: LevelActor) -> dict[str, Any]:
    level = editor.level.copy()
    level.add(actor)
    editor.level = level
    return {
        'target': fields.string('target'),
        'actor_name': actor.name,
        'requires_pie_restart': editor.in_pie,
    }
