# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Actors: spawn, copy, move, destroy, describe (namespace scene)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from urlab_ros_bridge.editor.blueprints import ActorBlueprint
from urlab_ros_bridge.editor.editor import LevelEditor
from urlab_ros_bridge.editor.editor import SCENE_BODY
from urlab_ros_bridge.editor.level import Level
from urlab_ros_bridge.editor.level import LevelActor
from urlab_ros_bridge.editor.ops import common
from urlab_ros_bridge.editor.ops.common import actor_id_of
from urlab_ros_bridge.editor.ops.common import color_of
from urlab_ros_bridge.editor.ops.common import failing_as
from urlab_ros_bridge.editor.ops.common import target_of
from urlab_ros_bridge.editor.ops.common import text_of
from urlab_ros_bridge.editor.ops.common import three
from urlab_ros_bridge.editor.transforms import read_location
from urlab_ros_bridge.editor.transforms import read_rotation
from urlab_ros_bridge.editor.transforms import read_scale
from urlab_ros_bridge.editor.transforms import to_euler
from urlab_ros_bridge.geometry import IDENTITY
from urlab_ros_bridge.geometry import ORIGIN
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import Vector
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.model.sidecar.specs import LIGHT_KINDS
from urlab_ros_bridge.sim.model.sidecar.specs import PHYSICS
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.registry import ReplyFields
from urlab_ros_bridge.sim.requests.sessions import ServerSession

_UNSCALED = (1.0, 1.0, 1.0)


def spawn(
    editor: LevelEditor,
    level: Level,
    blueprint: ActorBlueprint,
    actor_id: str,
    pose: Pose,
    scale: Vector,
    physics: str,
) -> tuple[LevelActor, bool]:
    """
    Put an actor into `level`, or move the one with that id.

    :param actor_id: '' means its name.
    :param physics: '' means that of the blueprint or the existing actor.
    :return: the actor, and whether it existed.
    :raises OpError: spawn_failed.
    """
    settings = dict(blueprint.settings)
    if blueprint.kind == 'robot' and (physics or scale != _UNSCALED):
        what = 'physics' if physics else 'scale'
        raise OpError('spawn_failed', f'{blueprint.name} is a robot: its MJCF defines its {what}')
    if scale != _UNSCALED:
        settings['scale'] = list(scale)
    if physics:
        settings['physics'] = physics
    existing = level.by_id(actor_id) if actor_id else None
    if existing is not None:
        _check_class(editor, existing, blueprint)
        kept = {key: value for key, value in existing.settings.items() if key != 'scale'}
        made = replace(existing, pose=pose, settings={**kept, **settings})
    else:
        made = _new(level, blueprint.kind, actor_id, blueprint.name, pose, settings)
    with failing_as('spawn_failed'):
        # Compiled once for all actors with the same settings; a broken file is refused here.
        editor.geometry.of(made)
    level.add(made)
    return made, existing is not None


def put_light(level: Level, actor_id: str, pose: Pose, settings: dict[str, Any]) -> LevelActor:
    """
    Put a light into `level`, or update the one with that id.

    :raises OpError: spawn_failed, when the id is another actor's.
    """
    existing = level.by_id(actor_id) if actor_id else None
    if existing is not None and existing.kind != 'light':
        raise OpError('spawn_failed', f'the actor {actor_id!r} is not a light')
    if existing is not None:
        made = replace(existing, pose=pose, settings=settings)
    else:
        made = _new(level, 'light', actor_id, f'{settings["kind"]}_light', pose, settings)
    level.add(made)
    return made


def _new(
    level: Level, kind: str, actor_id: str, stem: str, pose: Pose, settings: dict[str, Any]
) -> LevelActor:
    if level.by_name(actor_id) is not None:
        raise OpError('spawn_failed', f'{actor_id!r} is the name of another actor')
    name = level.free_name(kind, actor_id or stem)
    return LevelActor(kind, name, actor_id or name, pose, settings)


def _check_class(editor: LevelEditor, existing: LevelActor, blueprint: ActorBlueprint) -> None:
    """Check that the actor with this id is of the same class, as the id may be mistyped."""
    if existing.kind == 'light':
        what = existing.light_class
    else:
        what = editor.library.of(existing.kind, existing.settings).class_path
    if what != blueprint.class_path:
        raise OpError(
            'spawn_failed',
            f'the actor {existing.actor_id!r} is a {what}, not a {blueprint.class_path}; '
            'destroy it first, or give another actor_id',
        )


MAX_CELLS = 1024  # stock plugin
DEFAULT_INTENSITY = 5000.0


def spawn_actor(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """
    Make an actor of a blueprint; with an `actor_id` that exists, that actor is moved instead.

    Extension `physics`, of an object: none (default), static, dynamic or mocap.
    """
    blueprint = _blueprint(editor, fields)
    level = editor.level.copy()
    pose = Pose(read_location(fields) or ORIGIN, read_rotation(fields) or IDENTITY)
    made, existed = spawn(
        editor, level, blueprint, actor_id_of(fields), pose, read_scale(fields), _physics(fields)
    )
    editor.level = level
    return {
        **common.identity_fields(editor, made),
        'blueprint_class_path': blueprint.class_path,
        **common.pose_fields(made),
        'was_existing': existed,
        'requires_pie_restart': editor.in_pie,
    }


def spawn_grid(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """Make count_x times count_y actors, all or none; their ids are ``{base}_{i}_{j}``."""
    blueprint = _blueprint(editor, fields)
    base = actor_id_of(fields, 'base_actor_id') or text_of(fields, 'base_actor_id')
    counts = [fields.integer(name, 0) for name in ('count_x', 'count_y')]
    if min(counts) <= 0:
        raise OpError('invalid_count', f'count_x and count_y are {counts}, they must be above 0')
    if counts[0] * counts[1] > MAX_CELLS:
        raise OpError('too_many_cells', f'{counts[0] * counts[1]} cells, at most {MAX_CELLS}')
    spacing = three(fields, 'spacing', (1.0, 1.0, 0.0))
    origin = read_location(fields, 'origin') or ORIGIN
    quat, scale = read_rotation(fields) or IDENTITY, read_scale(fields)
    physics, level, cells = _physics(fields), editor.level.copy(), []
    for j in range(counts[1]):
        for i in range(counts[0]):
            place = (origin[0] + i * spacing[0], origin[1] + j * spacing[1], origin[2])
            made, existed = spawn(
                editor, level, blueprint, f'{base}_{i}_{j}', Pose(place, quat), scale, physics
            )
            cells.append((made, existed))
    editor.level = level
    return {
        'count': len(cells),
        'blueprint_class_path': blueprint.class_path,
        'actors': [
            {
                **common.identity_fields(editor, made),
                'was_existing': existed,
                **common.pose_fields(made),
            }
            for made, existed in cells
        ],
        'requires_pie_restart': editor.in_pie,
    }


def spawn_light(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """Make a light that shines along its x axis; an `actor_id` that exists is updated."""
    kind = fields.string('kind', 'directional').lower()
    if kind not in LIGHT_KINDS:
        raise OpError('spawn_failed', f'kind {kind!r:.40} is not one of {", ".join(LIGHT_KINDS)}')
    pose = Pose(read_location(fields) or ORIGIN, read_rotation(fields) or IDENTITY)
    settings = {
        'kind': kind,
        'intensity': fields.number('intensity', DEFAULT_INTENSITY, low=0.0),
        'color': list(color_of(fields, (1.0, 1.0, 1.0))),
    }
    level = editor.level.copy()
    made = put_light(level, actor_id_of(fields), pose, settings)
    editor.level = level
    return {
        **common.identity_fields(editor, made),
        **settings,
        **common.pose_fields(made),
        'rotation_euler': list(to_euler(pose.orientation)),
        'requires_pie_restart': editor.in_pie,
    }


def duplicate_actor(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """Copy an actor under a new id; 1 m along x from it, unless `location` is given."""
    source = _editable(editor, fields, 'duplicate_failed')
    new_id = actor_id_of(fields, 'new_actor_id') or text_of(fields, 'new_actor_id')
    level = editor.level.copy()
    if level.by_id(new_id) is not None or level.by_name(new_id) is not None:
        raise OpError('duplicate_failed', f'there is already an actor {new_id!r}')
    x, y, z = source.pose.position
    place = read_location(fields) or (x + 1.0, y, z)
    made = replace(
        source,
        name=level.free_name(source.kind, new_id),
        actor_id=new_id,
        pose=Pose(place, source.pose.orientation),
    )
    level.add(made)
    editor.level = level
    path = ''
    if made.kind != 'light':
        path = editor.library.of(made.kind, made.settings).class_path
    return {
        **common.identity_fields(editor, made),
        'blueprint_class_path': path,
        **common.pose_fields(made),
        'requires_pie_restart': editor.in_pie,
    }


def destroy_actor(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """Remove an actor from the level; it stays in a running world until the next start."""
    actor = _editable(editor, fields, 'destroy_failed')
    level = editor.level.copy()
    level.remove(actor)
    editor.level = level
    return {'requires_pie_restart': editor.in_pie}


def remove_actor(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """Do the same under the newer name of destroy_actor; the reply names the target."""
    return {**destroy_actor(editor, session, fields), 'target': fields.string('target')}


def set_actor_transform(
    editor: LevelEditor, session: ServerSession, fields: Fields
) -> ReplyFields:
    """
    Move an actor, in the level and, where its root is free or a mocap body, in the running world.

    Fields that are not given keep their values, in play those of the running world.
    """
    target = target_of(editor, fields)
    place, turn = read_location(fields), read_rotation(fields)
    running, moved = editor.running(), False
    now = running.pose(target.name) if running is not None else None
    if running is not None and now is not None:
        moved = running.place(target.name, Pose(place or now.position, turn or now.orientation))
    if target.kind == SCENE_BODY:
        if not moved:
            raise OpError('set_actor_transform_failed', f'{target.name} cannot be moved')
    else:
        level = editor.level.copy()
        level.move(target, Pose(place or target.pose.position, turn or target.pose.orientation))
        editor.level = level
    return {
        'target': fields.string('target'),
        'actor_name': target.name,
        'requires_pie_restart': editor.in_pie and not moved,
    }


def actor_hierarchy(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """Return an actor and the tree of its bodies."""
    target = target_of(editor, fields)
    with failing_as('actor_hierarchy_failed'):
        return {'root': common.hierarchy(editor, target)}


def snapshot(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """Return every actor, of the running world if there is one, with the members of robots."""
    return {
        'actors': [common.snapshot_row(editor, actor) for actor in editor.live_actors()],
        'in_pie': editor.in_pie,
        'level_path': common.level_path(editor.level),
    }


def _blueprint(editor: LevelEditor, fields: Fields) -> Any:
    with failing_as('spawn_failed'):
        return editor.library.find(text_of(fields, 'blueprint'))


def _physics(fields: Fields) -> str:
    return fields.choice('physics', PHYSICS) if 'physics' in fields else ''


def _editable(editor: LevelEditor, fields: Fields, code: str) -> Any:
    target = target_of(editor, fields)
    if target.kind == SCENE_BODY:
        raise OpError(code, f'{target.name} belongs to the scene file {editor.level.scene}')
    return target
