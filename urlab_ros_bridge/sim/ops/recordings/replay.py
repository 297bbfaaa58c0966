# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""replay_load, _list_sessions, _set_active, _start and _stop (Protocol Reference, "Replay")."""

from __future__ import annotations

from typing import Any

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.ops.recordings.recording import FILE_SECONDS
from urlab_ros_bridge.sim.physics.recording.replay import LIVE
from urlab_ros_bridge.sim.requests.background import yielding
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.paths import read_text
from urlab_ros_bridge.sim.requests.registry import Registry
from urlab_ros_bridge.sim.requests.sessions import ServerSession
from urlab_ros_bridge.sim.stage import Context
from urlab_ros_bridge.wire.recording import decode
from urlab_ros_bridge.wire.recording import MalformedRecording


def replay_load(context: Context, session: ServerSession, fields: Fields) -> dict[str, Any]:
    """Read a recording; it is called like the file without suffix and chosen for replay_start."""
    fields.need('path')
    path = context.data.for_reading(fields.string('path'))
    try:
        take = decode(yielding(read_text(path), lambda: context.engine.run.draining))
    except MalformedRecording as error:
        raise OpError('path_not_readable', f'{path} is not a recording: {error}') from error
    name = path.name if path.stem == LIVE else path.stem
    with context.engine.lock:
        context.replay.add(name, take)
    return {'name': name, 'total_frames': len(take)}


def replay_list_sessions(
    context: Context, session: ServerSession, fields: Fields
) -> dict[str, Any]:
    """Return what can be chosen."""
    return {'sessions': context.replay.sessions}


def replay_set_active(context: Context, session: ServerSession, fields: Fields) -> dict[str, Any]:
    """Choose what replay_start plays; a running replay continues."""
    fields.need('name')
    context.replay.choose(fields.string('name'))
    return {}


def replay_start(context: Context, session: ServerSession, fields: Fields) -> dict[str, Any]:
    """Play the chosen session: from now on `step` shows its frames."""
    total = context.replay.start()
    return {'active_session': context.replay.active, 'total_frames': total}


def replay_stop(context: Context, session: ServerSession, fields: Fields) -> dict[str, Any]:
    """Give the world back to physics; nothing to do when nothing is played."""
    context.replay.stop()
    return {}


def register(registry: Registry) -> None:
    """Add the ops of this module."""
    registry.register('replay_load', replay_load, locked=False, seconds=lambda *_: FILE_SECONDS)
    registry.register('replay_list_sessions', replay_list_sessions)
    registry.register('replay_set_active', replay_set_active)
    registry.register('replay_start', replay_start)
    registry.register('replay_stop', replay_stop, urgent=True)
