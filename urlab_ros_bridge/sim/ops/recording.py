# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""recording_start, _stop, _save and _clear (Protocol Reference, "Recording")."""

from __future__ import annotations

from collections.abc import Iterator
import logging
import math
from typing import Any

from urlab_ros_bridge.sim.background import yielding
from urlab_ros_bridge.sim.context import Context
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.fields import bad_value
from urlab_ros_bridge.sim.fields import Fields
from urlab_ros_bridge.sim.paths import write_atomically
from urlab_ros_bridge.sim.registry import Registry
from urlab_ros_bridge.sim.replay import LIVE
from urlab_ros_bridge.sim.sessions import Session
from urlab_ros_bridge.wire.recording import encode
from urlab_ros_bridge.wire.recording import Take

DEFAULT_NAME = 'recording.json'  # the stock plugin's
NO_LIMIT = 3.4028234663852886e38  # FLT_MAX, which the stock plugin echoes for "no limit"
FILE_SECONDS = 1.0  # files are never quick: their ops run on a worker
_LOG_FRAMES = 100_000  # a save of more frames is reported in the log, every tenth
_LOG = logging.getLogger(__name__)


def recording_start(context: Context, session: Session, fields: Fields) -> dict[str, Any]:
    """
    Record from now on; whatever `name` asks for, the session is called live.

    `max_duration_s` makes it a sliding window.  A replay that is under way ends.
    """
    fields.string('name')
    limit = fields.number('max_duration_s', NO_LIMIT)
    if limit <= 0:
        raise bad_value('max_duration_s', limit, 'more than 0 (leave it out for no limit)')
    context.recorder.start(math.inf if limit >= NO_LIMIT else limit)
    context.replay.stop()
    return {'name': LIVE, 'max_duration_s': limit}


def recording_stop(context: Context, session: Session, fields: Fields) -> dict[str, Any]:
    """Stop to record; the frames stay for recording_save and for a replay."""
    recorder = context.recorder
    recorder.stop()
    return {
        'name': LIVE,
        'frame_count': recorder.frames,
        'sim_duration_s': recorder.duration,
    }


def recording_save(context: Context, session: Session, fields: Fields) -> dict[str, Any]:
    """
    Write the recorded frames to a file, whole or not at all; recording may go on meanwhile.

    Runs without the model's lock but for the moment of the snapshot.
    """
    name = fields.string('path') or DEFAULT_NAME
    with context.engine.lock:
        take = context.recorder.snapshot()
    if not len(take):
        raise OpError('recording_not_active', 'nothing was recorded')
    path = context.data.for_writing(name)
    try:
        write_atomically(path, _pieces(context, take, str(path)))
    finally:
        context.recorder.saved = None
    return {'absolute_path': str(path)}


def _pieces(context: Context, take: Take, path: str) -> Iterator[str]:
    """Yield the text of a file; `status` and the log tell how far it is."""
    total, tenth = len(take), 0
    for done, text in yielding(encode(take), lambda: context.engine.draining):
        context.recorder.saved = done / total
        if total >= _LOG_FRAMES and done * 10 // total > tenth:
            tenth = done * 10 // total
            _LOG.info('saving %s: %d %% of %d frames', path, tenth * 10, total)
        yield text


def recording_clear(context: Context, session: Session, fields: Fields) -> dict[str, Any]:
    """Forget the recorded frames; a recording that is under way goes on."""
    context.recorder.clear()
    return {}


def register(registry: Registry) -> None:
    """Add the ops of this module."""
    registry.register('recording_start', recording_start)
    registry.register('recording_stop', recording_stop)
    registry.register(
        'recording_save', recording_save, locked=False, seconds=lambda *_: FILE_SECONDS
    )
    registry.register('recording_clear', recording_clear)
