# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The recording of a running world: one frame after each mj_step, in every mode.

Frames go into float64 blocks that are written once and never moved, so a snapshot copies nothing:
it holds on to the blocks that are there.
"""

from __future__ import annotations

from collections import deque
import logging
import math
import os
from typing import Any

import mujoco
import numpy as np

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.physics.engine import Engine
from urlab_ros_bridge.wire.recording import RecordedJoint
from urlab_ros_bridge.wire.recording import RecordedTake
from urlab_ros_bridge.wire.recording import RecordingLayout

BLOCK_BYTES = 1 << 20
# A recording without limit keeps its newest 4 GiB, on a small machine a quarter of its memory.
MAX_BYTES = min(4 << 30, os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') // 4)
_LOG = logging.getLogger(__name__)


def layout_of(model: mujoco.MjModel) -> RecordingLayout:
    """Return what a frame of this model holds: everything, in compiled order."""
    widths = {0: (7, 6), 1: (4, 3), 2: (1, 1), 3: (1, 1)}  # mjtJoint: free, ball, slide, hinge
    joints = tuple(
        RecordedJoint(model.joint(i).name or f'Joint_{i}', *widths[int(model.jnt_type[i])])
        for i in range(model.njnt)
    )
    actuators = tuple(model.actuator(i).name or f'Actuator_{i}' for i in range(model.nu))
    slots = [''] * model.na
    for index, name in enumerate(actuators):
        for offset in range(int(model.actuator_actnum[index])):
            slot = int(model.actuator_actadr[index]) + offset
            slots[slot] = f'{name}[{offset}]' if offset else name
    mocaps = {
        int(model.body_mocapid[i]): model.body(i).name or f'Body_{i}'
        for i in range(model.nbody)
        if model.body_mocapid[i] >= 0
    }
    return RecordingLayout(
        joints, actuators, tuple(slots), tuple(mocaps[i] for i in sorted(mocaps))
    )


class StateRecorder:
    """
    Records an engine's world.  All methods need the engine's lock; the counts do not.

    Simulation time may jump back (a reset) or repeat (a puppeteer that sends the same time
    twice).  Frames keep the time stamp they have; the window and the duration count recorded
    time, in which such a frame comes one timestep after the one before.

    :ivar active: frames are being taken.
    :ivar name: what the recording was called at its start, '' for no name.
    :ivar saved: fraction of a save that is under way, None when there is none.
    """

    def __init__(self, engine: Engine, max_bytes: int = MAX_BYTES) -> None:
        self.active = False
        self.name = ''
        self.saved: float | None = None
        self._kept: RecordedTake | None = None
        self._engine = engine
        self._model, self._data = engine.world.model, engine.world.data
        self.layout = layout_of(self._model)
        self._rows = max(16, BLOCK_BYTES // (8 * (self.layout.width + 1)))
        self._max_blocks = max(2, max_bytes // (self._rows * 8 * (self.layout.width + 1)))
        self._window = math.inf
        self._head = np.zeros(1)
        self._age = np.zeros(1)
        data = self._data
        vectors = (data.qpos, data.qvel, data.ctrl, data.act, data.mocap_pos, data.mocap_quat)
        # These arrays are views of MuJoCo's memory: they always show the present state.
        self._parts = [self._head, *(v.reshape(-1) for v in vectors if v.size), self._age]
        self.clear()

    def start(self, max_duration: float = math.inf, name: str = '') -> None:
        """
        Forget what there is and record from now on.

        :param max_duration: seconds of recorded time; older frames are dropped.
        :raises OpError: recording_already_active.
        """
        if self.active:
            raise OpError('recording_already_active', 'call recording_stop first')
        self.clear()
        self.name = name
        # A sum of timesteps is not exact; a window of n timesteps keeps n + 1 frames.
        self._window = max_duration + 1e-6 * self._model.opt.timestep
        self.active = True
        self._engine.hooks.after_step.append(self._record)

    def stop(self) -> None:
        """
        Stop recording; keep the frames.

        :raises OpError: recording_not_active.
        """
        if not self.active:
            raise OpError('recording_not_active', 'call recording_start first')
        self.active = False
        self._engine.hooks.after_step.remove(self._record)

    def resume(self, other: StateRecorder) -> None:
        """Keep the frames of a recorder that has stopped, of a world before this one."""
        take = other.snapshot()
        if len(take):
            self._kept, self._kept_duration = take, other.duration
            self.name = other.name

    def clear(self) -> None:
        """Forget the frames; a running recording continues with none."""
        self._kept, self._kept_duration = None, 0.0
        self._blocks: deque[np.ndarray] = deque()
        self._block = np.empty((0, self.layout.width + 1))
        self._first = 0  # row of the oldest kept frame in the first block
        self._next = self._rows  # row of the next frame in the last block
        self._elapsed = self._offset = self._oldest = 0.0
        self._last_time = -math.inf
        self._full = False

    @property
    def frames(self) -> int:
        """Return the count of kept frames."""
        if self._kept is not None:
            return len(self._kept)
        return (
            max(len(self._blocks) - 1, 0) * self._rows
            - self._first
            + (self._next if self._blocks else 0)
        )

    @property
    def duration(self) -> float:
        """Return the recorded time from the first kept frame to the last, s."""
        if self._kept is not None:
            return self._kept_duration
        return self._elapsed - self._oldest if self._blocks else 0.0

    @property
    def nbytes(self) -> int:
        """Return the memory that the frames take."""
        return len(self._blocks) * self._rows * 8 * (self.layout.width + 1)

    def report(self) -> dict[str, Any]:
        """Return the block of `status`; needs no lock."""
        return {'active': self.active, 'frames': self.frames, 'saved': self.saved}

    def snapshot(self) -> RecordedTake:
        """Return the frames that there are now; later ones do not change it."""
        if self._kept is not None:
            return self._kept
        blocks = list(self._blocks)
        if blocks:
            blocks[-1] = blocks[-1][: self._next]
            blocks[0] = blocks[0][self._first :]
        return RecordedTake(self.layout, tuple(blocks), float(self._model.opt.timestep))

    def _record(self) -> None:
        """Record a frame; this runs after every mj_step, so it is short."""
        time = self._data.time
        if time > self._last_time:
            elapsed = time + self._offset
        else:
            elapsed = self._elapsed + self._model.opt.timestep
            self._offset = elapsed - time
        self._last_time, self._elapsed = time, elapsed
        self._head[0] = time
        self._age[0] = elapsed
        if self._next == self._rows:
            self._add_block(elapsed)
        np.concatenate(self._parts, out=self._block[self._next])
        self._next += 1
        if elapsed - self._oldest > self._window:
            self._slide(elapsed - self._window)

    def _add_block(self, elapsed: float) -> None:
        if not self._blocks:
            self._oldest = elapsed
        elif len(self._blocks) >= self._max_blocks:
            if not self._full:
                self._full = True
                _LOG.warning(
                    'the recording has reached %d MB; its oldest frames are dropped from now on. '
                    'To limit it, give recording_start max_duration_s',
                    self.nbytes >> 20,
                )
            self._blocks.popleft()
            self._oldest, self._first = float(self._blocks[0][0, -1]), 0
        self._block = np.empty((self._rows, self.layout.width + 1))
        self._blocks.append(self._block)
        self._next = 0

    def _slide(self, limit: float) -> None:
        """Drop the frames whose recorded time is before `limit`."""
        while self._oldest < limit:
            self._first += 1
            if self._first == self._rows:
                self._blocks.popleft()
                self._first = 0
            self._oldest = float(self._blocks[0][self._first, -1])
