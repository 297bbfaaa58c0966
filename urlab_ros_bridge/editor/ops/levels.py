# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Levels and blueprints: create, load, save, import, destroy (namespace scene)."""

from __future__ import annotations

from pathlib import Path

from urlab_ros_bridge import models
from urlab_ros_bridge.editor.editor import LevelEditor
from urlab_ros_bridge.editor.level import Level
from urlab_ros_bridge.editor.level import LEVELS
from urlab_ros_bridge.editor.ops.common import actor_path
from urlab_ros_bridge.editor.ops.common import failing_as
from urlab_ros_bridge.editor.ops.common import level_path
from urlab_ros_bridge.editor.ops.common import text_of
from urlab_ros_bridge.schema.yaml_files import MAX_BYTES
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.model.client_models.files import CONTENT
from urlab_ros_bridge.sim.model.client_models.files import read_user_file
from urlab_ros_bridge.sim.model.client_models.files import write_user_file
from urlab_ros_bridge.sim.model.sidecar.sidecar import load_sidecar
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.paths import write_atomically
from urlab_ros_bridge.sim.requests.registry import ReplyFields
from urlab_ros_bridge.sim.requests.sessions import ServerSession

MANAGER = 'MjManager'
_ENDINGS = ('.yaml', '.yml', '.xml')


def import_xml(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """Make a blueprint of an MJCF file, a sidecar with one robot, or a mesh."""
    made, now = editor.library.add(text_of(fields, 'path'), fields.boolean('force_reimport'))
    return {
        'blueprint_class_path': made.class_path,
        'blueprint_short_name': made.name,
        'imported_now': now,
    }


def create_level(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """
    Make an empty level, or one on a scene file, save it and open it; play ends.

    Extension `scene`: name of a bundled world, or an MJCF file.
    """
    code = 'create_level_failed'
    path = _level_file(editor, text_of(fields, 'name'), code)
    if path.exists() and not fields.boolean('force_overwrite'):
        raise OpError(code, f'{path} exists; give another name, or set force_overwrite')
    level = Level(path, _scene(editor, fields.string('scene'), code), editor.model_files)
    with failing_as(code):
        if level.scene is not None:
            editor.model_files.model(level.scene)
        _write(level, path, code)
    editor.open(level)
    editor.manager = False
    return {'level_path': level_path(level)}


def load_level(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """Open a level (or an MJCF file, or a bundled world by its name); play ends."""
    editor.open(read_level(editor, text_of(fields, 'level_path'), 'load_level_failed'))
    return {'level_path': level_path(editor.level)}


def read_level(editor: LevelEditor, text: str, code: str) -> Level:
    """
    Read the level that a request names; clients must be allowed to read all of its files.

    :raises OpError: `code`, with the reason.
    """
    name = _without_object(text)
    if name in models.world_names() and not (editor.data.root / LEVELS / f'{name}.yaml').exists():
        path = models.world_path(name)
    else:
        name = name if name.endswith(_ENDINGS) else f'{name}.yaml'
        path = read_user_file(editor.data, name, LEVELS, code)
    with failing_as(code):
        level = Level.open(path, editor.model_files)
    for file in level.files():
        read_user_file(editor.data, str(file), '.', code)
    return level


def save_level(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """
    Write the open level to its file.

    Extension `name`: save it under another name (with `force_overwrite` over an existing file).
    A level from outside the data folder is saved in it, under the same name.
    """
    code, level = 'save_level_failed', editor.level
    name = fields.string('name')
    if not name and level.path is None:
        raise OpError(code, 'the level has no name yet: give one in the field name')
    if level.path is not None and level.path.is_relative_to(editor.data.root) and not name:
        path = level.path
    else:
        path = _level_file(editor, name or level.name, code)
    if path != level.path and path.exists() and not fields.boolean('force_overwrite'):
        raise OpError(code, f'{path} exists; give another name, or set force_overwrite')
    _write(level, path, code)
    level.path = path
    return {'level_path': level_path(level)}


def current_level(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """Return the file of the open level; '' while it was never saved."""
    return {'level_path': level_path(editor.level)}


def ensure_manager(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """Mark the level for simulation; here every level can be simulated."""
    was, editor.manager = editor.manager, True
    return {
        'actor_name': MANAGER,
        'actor_path': actor_path(editor.level, MANAGER),
        'was_existing': was,
    }


def destroy_asset(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """Delete a level's file, or forget an imported blueprint (its file stays)."""
    code, text = 'destroy_asset_failed', text_of(fields, 'asset_path')
    if editor.library.remove(text):
        return {'asset_path': text, 'was_found': True}
    path = _level_file(editor, text, code)
    levels = editor.data.root / LEVELS
    found = path.is_file() and path.is_relative_to(levels) and path.suffix in ('.yaml', '.yml')
    if found:
        try:
            path.unlink()
        except OSError as error:
            raise OpError(code, f'{path}: {error.strerror}') from error
        if path == editor.level.path:
            editor.open(Level())
    return {'asset_path': text, 'was_found': found}


def _without_object(text: str) -> str:
    """Cut the object's name off a path such as /Game/Levels/Hall.Hall."""
    stem, dot, tail = text.rpartition('.')
    return stem if text.startswith(CONTENT) and dot and stem.endswith(f'/{tail}') else text


def _level_file(editor: LevelEditor, text: str, code: str) -> Path:
    name = _without_object(text)
    name = name if name.endswith(('.yaml', '.yml')) else f'{name}.yaml'
    return write_user_file(editor.data, name, LEVELS, code)


def _scene(editor: LevelEditor, text: str, code: str) -> Path | None:
    if not text:
        return None
    if text in models.world_names():
        return load_sidecar(models.world_path(text)).scene
    return read_user_file(editor.data, text, '.', code)


def _write(level: Level, path: Path, code: str) -> None:
    text = level.text(path.parent)
    if len(text.encode()) > MAX_BYTES:
        # Reading it back would be refused.
        raise OpError(code, f'the level has {len(text)} characters, a file may have {MAX_BYTES}')
    try:
        write_atomically(path, [text])
    except OpError as error:
        raise OpError(code, str(error)) from error
