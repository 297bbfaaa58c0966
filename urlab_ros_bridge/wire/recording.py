# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Recordings: what a frame holds, and how it becomes JSON (Protocol Reference, "Recording").

The file is that of the stock plugin: one object with the key ``Frames``, each frame with
``timestamp`` (s), ``jointStates`` {full joint name: {``qPos``, ``qVel``}} and the plugin's camera
members.  Numbers are MuJoCo's (m, rad, quaternions wxyz).  Ours in addition: ``ctrl``, ``act``
and ``mocap`` of each frame, and the key ``Urlab`` beside ``Frames`` with their names.  Floats
are written so that they read back bit for bit.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
import json

import numpy as np

FRAMES_KEY = 'Frames'
INFO_KEY = 'Urlab'
VERSION = 1
# Width of qpos and qvel of MuJoCo's joints: hinge and slide, ball, free.
JOINT_WIDTHS = ((1, 1), (4, 3), (7, 6))
_PIECE_NUMBERS = 800  # numbers in one piece of text: about half a millisecond of work
_CAMERA = (
    '"cameraPosition":{"x":0,"y":0,"z":0},"cameraRotation":{"pitch":0,"yaw":0,"roll":0},'
    '"bHasCameraData":false'
)


@dataclass(frozen=True, slots=True)
class Joint:
    """A recorded joint: full name, width of its qpos and of its qvel."""

    name: str
    nq: int
    nv: int


@dataclass(frozen=True)
class Layout:
    """
    What the numbers of a frame are.

    A frame is a float64 row of shape (width,): time (s), qpos and qvel of the joints in order,
    ctrl, act, then the positions (m) and the quaternions (wxyz) of the mocap bodies.

    :ivar joints: the recorded joints.
    :ivar actuators: full name of the actuator of each ctrl.
    :ivar activations: name of each act slot: its actuator's, with ``[1]`` and so on when
        the actuator has several.
    :ivar mocaps: full name of each mocap body.
    """

    joints: tuple[Joint, ...]
    actuators: tuple[str, ...] = ()
    activations: tuple[str, ...] = ()
    mocaps: tuple[str, ...] = ()

    @cached_property
    def _ends(self) -> list[int]:
        mocap = len(self.mocaps)
        nq, nv = (sum(getattr(joint, name) for joint in self.joints) for name in ('nq', 'nv'))
        return list(
            accumulate(
                (1, nq, nv, len(self.actuators), len(self.activations), 3 * mocap, 4 * mocap)
            )
        )

    @property
    def width(self) -> int:
        """Return the count of numbers in a frame."""
        return self._ends[-1]

    @property
    def qpos(self) -> slice:
        """Return the columns of qpos."""
        return slice(*self._ends[0:2])

    @property
    def qvel(self) -> slice:
        """Return the columns of qvel."""
        return slice(*self._ends[1:3])

    @property
    def ctrl(self) -> slice:
        """Return the columns of ctrl."""
        return slice(*self._ends[2:4])

    @property
    def act(self) -> slice:
        """Return the columns of act."""
        return slice(*self._ends[3:5])

    @property
    def mocap_pos(self) -> slice:
        """Return the columns of the mocap positions, three a body."""
        return slice(*self._ends[4:6])

    @property
    def mocap_quat(self) -> slice:
        """Return the columns of the mocap quaternions, four a body."""
        return slice(*self._ends[5:7])

    def joint_columns(self) -> Iterator[tuple[Joint, range, range]]:
        """Yield each joint with the columns of its qpos and of its qvel."""
        qpos, qvel = self.qpos.start, self.qvel.start
        for joint in self.joints:
            yield joint, range(qpos, qpos + joint.nq), range(qvel, qvel + joint.nv)
            qpos, qvel = qpos + joint.nq, qvel + joint.nv


@dataclass(frozen=True)
class Take:
    """
    A recording in memory.

    :ivar blocks: float64 arrays of shape (n, layout.width or more): further columns are not
        part of the frame.  Nobody writes to them any more.
    :ivar timestep: seconds of simulation from frame to frame, None when not known.
    """

    layout: Layout
    blocks: tuple[np.ndarray, ...]
    timestep: float | None = None

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(map(len, self.blocks)))

    def __len__(self) -> int:
        return self._ends[-1] if self.blocks else 0

    @property
    def nbytes(self) -> int:
        """Return the memory that the frames take."""
        return sum(block.nbytes for block in self.blocks)

    def row(self, frame: int) -> np.ndarray:
        """
        Return one frame, shape (layout.width,).

        :raises IndexError: when there is no such frame.
        """
        if not 0 <= frame < len(self):
            raise IndexError(f'frame {frame} of {len(self)}')
        block = bisect_right(self._ends, frame)
        start = self._ends[block - 1] if block else 0
        return self.blocks[block][frame - start, : self.layout.width]


def encode(take: Take) -> Iterator[tuple[int, str]]:
    """
    Yield the file of a recording in small pieces: (count of frames done, text).

    JSON knows no NaN and no infinity: a frame that holds one is left out.
    """
    layout = take.layout
    info = {
        'version': VERSION,
        'timestep': take.timestep,
        'actuators': layout.actuators,
        'activations': layout.activations,
        'mocaps': layout.mocaps,
    }
    yield 0, f'{{{_text(INFO_KEY)}:{_text(info)},\n{_text(FRAMES_KEY)}:['
    template, order = _template(layout)
    size = max(1, _PIECE_NUMBERS // layout.width)
    done, separator = 0, '\n'
    for block in take.blocks:
        for start in range(0, len(block), size):
            piece = block[start : start + size, order]
            done += len(piece)
            finite = np.isfinite(piece).all(axis=1)
            if not finite.all():
                piece = piece[finite]
            if len(piece):
                lines = [template % tuple(row) for row in piece.tolist()]
                yield done, separator + ',\n'.join(lines)
                separator = ',\n'
    yield done, '\n]}\n'


def _template(layout: Layout) -> tuple[str, list[int]]:
    """Return the %-template of a frame and the columns in the order in which it wants them."""
    order, states = [0], []
    for joint, qpos, qvel in layout.joint_columns():
        order += [*qpos, *qvel]
        states.append(f'{_name(joint.name)}:{{"qPos":{_list(joint.nq)},"qVel":{_list(joint.nv)}}}')
    parts = ['"timestamp":%r', '"jointStates":{' + ','.join(states) + '}', _CAMERA]
    for key, columns in (('ctrl', layout.ctrl), ('act', layout.act)):
        order += range(columns.start, columns.stop)
        parts.append(f'"{key}":{_list(columns.stop - columns.start)}')
    if layout.mocaps:
        for body in range(len(layout.mocaps)):
            pos = layout.mocap_pos.start + 3 * body
            quat = layout.mocap_quat.start + 4 * body
            order += [*range(pos, pos + 3), *range(quat, quat + 4)]
        parts.append('"mocap":[' + ','.join([_list(7)] * len(layout.mocaps)) + ']')
    return '{' + ','.join(parts) + '}', order


def _list(count: int) -> str:
    return '[' + ','.join(['%r'] * count) + ']'


def _text(value: object) -> str:
    return json.dumps(value, separators=(',', ':'))


def _name(name: str) -> str:
    return _text(name).replace('%', '%%')
