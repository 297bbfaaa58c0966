# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Recording and replay (Protocol Reference, "Recording" and "Replay")."""

from __future__ import annotations

from collections.abc import Iterator
import logging
import math
from pathlib import Path
import re

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.physics.replay import LIVE
from urlab_ros_bridge.sim.requests.background import yielding
from urlab_ros_bridge.sim.requests.fields import bad_value
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.paths import read_text
from urlab_ros_bridge.sim.requests.paths import refused
from urlab_ros_bridge.sim.requests.paths import write_atomically
from urlab_ros_bridge.sim.requests.registry import Registry
from urlab_ros_bridge.sim.requests.registry import ReplyFields
from urlab_ros_bridge.sim.requests.sessions import ServerSession
from urlab_ros_bridge.sim.simulation import Simulation
from urlab_ros_bridge.wire.recording import decode
from urlab_ros_bridge.wire.recording import encode
from urlab_ros_bridge.wire.recording import MalformedRecording
from urlab_ros_bridge.wire.recording import RecordedTake

DEFAULT_NAME = 'recording'  # the stock plugin's
SUFFIX = '.json'
MAX_NAME = 60  # characters, of up to 4 bytes; file systems take 255 bytes
NO_LIMIT = 3.4028234663852886e38  # FLT_MAX, which the stock plugin echoes for "no limit"
FILE_SECONDS = 1.0  # files are never quick: their ops run on a worker
_LOG_FRAMES = 100_000  # a save of more frames is reported in the log, every tenth
MAX_LISTED = 1000
END_BYTES = 1 << 18  # a frame has at most this many, or its length is not reported
PIECE_BYTES = 1 << 18
MAX_OFFSET = 1 << 53
_TIMESTAMP = re.compile(rb'"timestamp"\s*:\s*([-+0-9.eE]+)', re.IGNORECASE)
_LOG = logging.getLogger(__name__)


def recording_start(simulation: Simulation, session: ServerSession, fields: Fields) -> ReplyFields:
    """
    Record from now on; recording_save calls the file `name` unless it is given another name.

    The session itself is called live, as the protocol says.  `max_duration_s` makes it a sliding
    window.  A replay that is under way ends.
    """
    name = fields.string('name')
    limit = fields.number('max_duration_s', NO_LIMIT)
    if limit <= 0:
        raise bad_value('max_duration_s', limit, 'more than 0 (leave it out for no limit)')
    simulation.recorder.start(math.inf if limit >= NO_LIMIT else limit, name)
    simulation.replay.stop()
    return {'name': LIVE, 'max_duration_s': limit}


def recording_stop(simulation: Simulation, session: ServerSession, fields: Fields) -> ReplyFields:
    """Stop to record; the frames stay for recording_save and for a replay."""
    recorder = simulation.recorder
    recorder.stop()
    return {
        'name': LIVE,
        'frame_count': recorder.frames,
        'sim_duration_s': recorder.duration,
    }


def recording_save(simulation: Simulation, session: ServerSession, fields: Fields) -> ReplyFields:
    """
    Write the recorded frames to a file, whole or not at all; recording may continue.

    Without `path` the file has the name of the recording, and a number where that is taken.  A
    file that `path` names is replaced, as by stock servers; `overwrite` (extension) false keeps
    it, which is the default of shared sessions.  Runs without the model's lock but for the moment
    of the snapshot.
    """
    wanted = fields.string('path')
    overwrite = fields.boolean('overwrite', bool(wanted) and not session.shared)
    with simulation.engine.lock:
        take, name = simulation.recorder.snapshot(), simulation.recorder.name
    if not len(take):
        raise OpError('recording_not_active', 'nothing was recorded; call recording_start first')
    room = simulation.data.room()
    default = _file_of(name or DEFAULT_NAME)
    with simulation.data.reserved(wanted, default, overwrite, room) as path:
        try:
            pieces = _pieces(simulation, take, str(path))
            write_atomically(path, pieces, replace=overwrite, room=room)
        finally:
            simulation.recorder.saved = None
    return {'absolute_path': str(path)}


def _file_of(name: str) -> str:
    """Return the file of a recording; what a file name cannot hold becomes _."""
    safe = re.sub(r'[^\w.+-]', '_', name.removesuffix(SUFFIX))[:MAX_NAME].lstrip('.')
    return f'{safe or DEFAULT_NAME}{SUFFIX}'


def _pieces(simulation: Simulation, take: RecordedTake, path: str) -> Iterator[str]:
    """Yield the text of a file; `status` and the log report the progress."""
    total, tenth = len(take), 0
    for done, text in yielding(encode(take), lambda: simulation.engine.run.draining):
        simulation.recorder.saved = done / total
        if total >= _LOG_FRAMES and done * 10 // total > tenth:
            tenth = done * 10 // total
            _LOG.info('saving %s: %d %% of %d frames', path, tenth * 10, total)
        yield text


def recording_list(simulation: Simulation, session: ServerSession, fields: Fields) -> ReplyFields:
    """
    Return the saved recordings, the newest first (extension).

    Of each: `path` for replay_load, `bytes`, `modified` (Unix time, s) and `seconds` of simulated
    time between its first and last frame, null where that cannot be read.
    """
    return {
        'recordings': [
            {
                'path': path.name,
                'bytes': stat.st_size,
                'modified': stat.st_mtime,
                'seconds': _seconds(path, stat.st_size),
            }
            for path, stat in simulation.data.files(SUFFIX)[:MAX_LISTED]
        ]
    }


def _seconds(path: Path, size: int) -> float | None:
    """Return the time between the first and the last frame of a file, from its ends alone."""
    try:
        with path.open('rb') as file:
            first = _TIMESTAMP.search(file.read(END_BYTES))
            file.seek(max(0, size - END_BYTES))
            last = _TIMESTAMP.findall(file.read(END_BYTES))
        return float(last[-1]) - float(first[1]) if first and last else None
    except (OSError, ValueError):
        return None


def recording_read(simulation: Simulation, session: ServerSession, fields: Fields) -> ReplyFields:
    """
    Return up to 256 KiB of a saved recording from an offset (bytes), and its size (extension).

    At the end of the file `text` is empty.
    """
    fields.need('path')
    path = simulation.data.for_reading(fields.string('path'))
    offset = fields.integer('offset', 0)
    if not 0 <= offset <= MAX_OFFSET:
        raise bad_value('offset', offset, f'from 0 to {MAX_OFFSET}')
    try:
        with path.open('rb') as file:
            file.seek(offset)
            piece = file.read(PIECE_BYTES)
            size = file.seek(0, 2)
        return {'text': piece.decode('ascii'), 'bytes': size}
    except OSError as error:
        raise refused('path_not_readable', path, error) from error
    except UnicodeDecodeError:
        raise OpError('path_not_readable', f'{path} is not a recording: not ASCII') from None


def recording_clear(simulation: Simulation, session: ServerSession, fields: Fields) -> ReplyFields:
    """Forget the recorded frames; a running recording continues."""
    simulation.recorder.clear()
    return {}


def replay_load(simulation: Simulation, session: ServerSession, fields: Fields) -> ReplyFields:
    """Read a recording; it is called like the file without suffix and chosen for replay_start."""
    fields.need('path')
    path = simulation.data.for_reading(fields.string('path'))
    name = path.name if path.stem == LIVE else path.stem
    try:
        pieces = yielding(read_text(path), lambda: simulation.engine.run.draining)
        take = decode(pieces, simulation.replay.room(name))
    except MalformedRecording as error:
        raise OpError('path_not_readable', f'{path} cannot be loaded: {error}') from error
    with simulation.engine.lock:
        simulation.replay.add(name, take)
    return {'name': name, 'total_frames': len(take)}


def replay_list_sessions(
    simulation: Simulation, session: ServerSession, fields: Fields
) -> ReplyFields:
    """Return what can be chosen."""
    return {'sessions': simulation.replay.sessions}


def replay_set_active(
    simulation: Simulation, session: ServerSession, fields: Fields
) -> ReplyFields:
    """Choose what replay_start plays; a running replay continues."""
    fields.need('name')
    simulation.replay.choose(fields.string('name'))
    return {}


def replay_start(simulation: Simulation, session: ServerSession, fields: Fields) -> ReplyFields:
    """Play the chosen session: from now on `step` shows its frames."""
    total = simulation.replay.start()
    return {'active_session': simulation.replay.active, 'total_frames': total}


def replay_stop(simulation: Simulation, session: ServerSession, fields: Fields) -> ReplyFields:
    """Return the world to physics; do nothing when nothing is played."""
    simulation.replay.stop()
    return {}


def register(registry: Registry) -> None:
    """Add the ops of this module."""
    registry.register(recording_stop, replay_stop, urgent=True)
    registry.register(recording_start, recording_clear)
    registry.register(replay_list_sessions, replay_set_active, replay_start)
    registry.register(
        recording_save,
        recording_list,
        recording_read,
        replay_load,
        locked=False,
        seconds=lambda *_: FILE_SECONDS,
    )
