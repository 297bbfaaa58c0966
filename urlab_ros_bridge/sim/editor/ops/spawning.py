# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""How actors come into a level."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from urlab_ros_bridge.sim.editor.editor import LevelEditor
from urlab_ros_bridge.sim.editor.level.actors import LevelActor
from urlab_ros_bridge.sim.editor.level.blueprints import ActorBlueprint
from urlab_ros_bridge.sim.editor.level.level import Level
from urlab_ros_bridge.sim.editor.level.transforms import ActorPose
from urlab_ros_bridge.sim.editor.level.transforms import Vector
from urlab_ros_bridge.sim.editor.ops.requests import failing_as
from urlab_ros_bridge.sim.errors import OpError

_UNSCALED = (1.0, 1.0, 1.0)


def spawn(
    editor: LevelEditor,
    level: Level,
    blueprint: ActorBlueprint,
    actor_id: str,
    pose: ActorPose,
    scale: Vector,
    physics: str,
) -> tuple[LevelActor, bool]:
    """
    Put an actor into `level`, or move the one with that id.

    :param actor_id: '' gives it its name as id.
    :param physics: '' leaves what the blueprint or the existing actor says.
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
        # Compiled once for all actors that look the same: what is broken is refused here.
        editor.forms.of(made)
    level.add(made)
    return made, existing is not None


def spawn_light(
    level: Level, actor_id: str, pose: ActorPose, settings: dict[str, Any]
) -> LevelActor:
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
    level: Level, kind: str, actor_id: str, stem: str, pose: ActorPose, settings: dict[str, Any]
) -> LevelActor:
    if level.by_name(actor_id) is not None:
        raise OpError('spawn_failed', f'{actor_id!r} is the name of another actor')
    name = level.free_name(kind, actor_id or stem)
    return LevelActor(kind, name, actor_id or name, pose, settings)


def _check_class(editor: LevelEditor, existing: LevelActor, blueprint: ActorBlueprint) -> None:
    """Make sure that a slip of the pen does not turn one robot into another."""
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
