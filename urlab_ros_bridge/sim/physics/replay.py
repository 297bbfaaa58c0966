# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Replay: recorded frames take the place of physics (Protocol Reference, "Replay").

While the engine has a replay source, each step shows its next frame instead of integrating.  At
the last frame it stays there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.errors import unknown
from urlab_ros_bridge.sim.physics.engine import Engine
from urlab_ros_bridge.sim.physics.recorder import layout_of
from urlab_ros_bridge.sim.physics.recorder import MAX_BYTES  # of all loaded sessions
from urlab_ros_bridge.sim.physics.recorder import StateRecorder
from urlab_ros_bridge.wire.recording import RecordedTake
from urlab_ros_bridge.wire.recording import RecordingLayout

LIVE = 'live'  # Protocol Reference: name of the session that recording_start fills
MAX_SESSIONS = 64


class RecordingSource:
    """
    Writes the frames of a recording into the world, one after the other.

    Joints, actuators and mocap bodies are found by name; what the world does not have is left
    out, what the recording does not have stays as it is.

    :raises OpError: bad_value when the world has none of the joints, dim_mismatch when one of
        them is of another kind.
    """

    def __init__(self, engine: Engine, session: str, take: RecordedTake) -> None:
        self.session = session
        self._engine = engine
        self._take = take
        self._frame = -1
        here = layout_of(engine.world.model)
        _check_joints(session, take.layout, here)
        data = engine.world.data
        arrays = {
            'qpos': data.qpos,
            'qvel': data.qvel,
            'ctrl': data.ctrl,
            'act': data.act,
            'mocap_pos': data.mocap_pos.reshape(-1),
            'mocap_quat': data.mocap_quat.reshape(-1),
        }
        there, ours = _columns(take.layout), _columns(here)
        self._copies = []
        for key, array in arrays.items():
            common = [name for name in there[key] if name in ours[key] and name[0]]
            start = here.columns[key].start
            slots = np.array([ours[key][name] - start for name in common], dtype=np.intp)
            columns = np.array([there[key][name] for name in common], dtype=np.intp)
            if common:
                self._copies.append((array, slots, columns))

    def advance(self, count: int, deadline: float) -> None:
        """Show the next `count` frames; at the last one it stays (`ReplaySource.advance`)."""
        count = min(count, len(self._take) - 1 - self._frame)
        for done in range(1, count + 1):
            self._show_next()
            self._engine.run.check_deadline(deadline, done, count)

    def report(self) -> dict[str, Any]:
        """Return the extension block of a step reply; frame -1 is before the first."""
        return {'replay': {'frame': self._frame, 'total_frames': len(self._take)}}

    def _show_next(self) -> None:
        self._frame += 1
        row = self._take.row(self._frame)
        for array, slots, columns in self._copies:
            array[slots] = row[columns]
        self._engine.world.data.time = float(row[0])
        self._engine.accept_state()


def _columns(layout: RecordingLayout) -> dict[str, dict[tuple[str, int], int]]:
    """Return, for each array of MjData, {(name, position in its values): column of the frame}."""
    found: dict[str, dict[tuple[str, int], int]] = {'qpos': {}, 'qvel': {}}
    for joint, qpos, qvel in layout.joint_columns():
        for key, columns in (('qpos', qpos), ('qvel', qvel)):
            found[key].update({(joint.name, i): column for i, column in enumerate(columns)})
    for key, names, width in (
        ('ctrl', layout.actuators, 1),
        ('act', layout.activations, 1),
        ('mocap_pos', layout.mocaps, 3),
        ('mocap_quat', layout.mocaps, 4),
    ):
        start = layout.columns[key].start
        found[key] = {
            (name, i): start + width * number + i
            for number, name in enumerate(names)
            for i in range(width)
        }
    return found


def _check_joints(session: str, recorded: RecordingLayout, here: RecordingLayout) -> None:
    ours = {joint.name: joint for joint in here.joints}
    common = [joint for joint in recorded.joints if joint.name in ours]
    if not common:
        theirs = ', '.join(joint.name for joint in recorded.joints[:4])
        raise unknown(
            'bad_value', 'joint', f'{session!r} has no joint of this world but: {theirs}', ours
        )
    for joint in common:
        if joint != ours[joint.name]:
            raise OpError(
                'dim_mismatch',
                f'joint {joint.name} has {joint.nq} qpos in {session!r}, '
                f'{ours[joint.name].nq} in this world',
            )


class Replay:
    """
    The loaded sessions and the chosen one.  All methods need the engine's lock.

    :ivar active: name of the session that `start` plays.
    """

    def __init__(self, engine: Engine, recorder: StateRecorder) -> None:
        self.active = LIVE
        self._engine = engine
        self._recorder = recorder
        self._loaded: dict[str, RecordedTake] = {}

    @property
    def sessions(self) -> list[str]:
        """Return the names of all sessions: live first, then in the order of loading."""
        return [LIVE, *self._loaded]

    def room(self, name: str) -> int:
        """Return how many bytes the frames of a session that is loaded may take."""
        return MAX_BYTES - _total(take for key, take in self._loaded.items() if key != name)

    def resume(self, other: Replay) -> None:
        """Keep what was loaded into the world that this one replaces."""
        self._loaded, self.active = other._loaded, other.active

    def add(self, name: str, take: RecordedTake) -> None:
        """
        Keep a loaded recording and choose it; one of the same name is replaced.

        :raises OpError: path_not_readable when there are too many already.
        """
        others = {key: value for key, value in self._loaded.items() if key != name}
        total = _total((*others.values(), take))
        if len(others) >= MAX_SESSIONS or total > MAX_BYTES:
            raise OpError(
                'path_not_readable',
                f'{len(others)} sessions of {total >> 20} MB would be loaded; '
                f'at most {MAX_SESSIONS} of {MAX_BYTES >> 20} MB',
            )
        self._loaded = {**others, name: take}
        self.active = name

    def choose(self, name: str) -> None:
        """
        Choose what `start` plays.

        :raises OpError: replay_session_not_found.
        """
        if name not in self.sessions:
            raise unknown('replay_session_not_found', 'session', name, self.sessions)
        self.active = name

    def start(self) -> int:
        """
        Replace physics by the chosen session; return its count of frames.

        :raises OpError: replay_requires_stepped, or replay_session_not_found when there is
            nothing to play, or what `RecordingSource` raises.
        """
        if self._engine.run.mode == 'live':
            raise OpError('replay_requires_stepped', 'set_mode direct or puppet first')
        take = self._recorder.snapshot() if self.active == LIVE else self._loaded[self.active]
        if not len(take):
            raise OpError('replay_session_not_found', f'{self.active}: nothing was recorded')
        self._engine.run.replay_source = RecordingSource(self._engine, self.active, take)
        return len(take)

    def stop(self) -> None:
        """Return the world to physics; it continues from the frame that is shown."""
        self._engine.run.replay_source = None


def _total(takes: Iterable[RecordedTake]) -> int:
    return sum(take.nbytes for take in takes)
