# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Recordings: what a frame holds, and its way to JSON and back (Protocol Reference, "Recording").

The file is that of the stock plugin: one object with the key ``Frames``, each frame with
``timestamp`` (s), ``jointStates`` {full joint name: {``qPos``, ``qVel``}} and the plugin's camera
members.  Numbers are MuJoCo's (m, rad, quaternions wxyz).  Ours in addition: ``ctrl``, ``act``
and ``mocap`` of each frame, and the key ``Urlab`` beside ``Frames`` with their names.  Floats
are written so that they read back bit for bit.

Reading goes frame by frame, so that a file larger than the memory's comfort can be read, and is
total: any text gives a `RecordedTake` or `MalformedRecording`.  Inner keys are read without regard
to case, as the stock plugin does.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from itertools import pairwise
import json
import math
from typing import Any
from typing import NoReturn

import numpy as np

from urlab_ros_bridge.wire.errors import WireError
from urlab_ros_bridge.wire.stamp import MAX_TIME

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
class RecordedJoint:
    """A recorded joint: full name, width of its qpos and of its qvel."""

    name: str
    nq: int
    nv: int


@dataclass(frozen=True)
class RecordingLayout:
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

    joints: tuple[RecordedJoint, ...]
    actuators: tuple[str, ...] = ()
    activations: tuple[str, ...] = ()
    mocaps: tuple[str, ...] = ()

    @cached_property
    def columns(self) -> dict[str, slice]:
        """The columns of a frame by array: qpos, qvel, ctrl, act, mocap_pos, mocap_quat."""
        mocap = len(self.mocaps)
        widths = {
            'qpos': sum(joint.nq for joint in self.joints),
            'qvel': sum(joint.nv for joint in self.joints),
            'ctrl': len(self.actuators),
            'act': len(self.activations),
            'mocap_pos': 3 * mocap,
            'mocap_quat': 4 * mocap,
        }
        ends = accumulate(widths.values(), initial=1)
        return {name: slice(*both) for name, both in zip(widths, pairwise(ends), strict=True)}

    @property
    def width(self) -> int:
        """Return the count of numbers in a frame."""
        width: int = self.columns['mocap_quat'].stop
        return width

    def joint_columns(self) -> Iterator[tuple[RecordedJoint, range, range]]:
        """Yield each joint with the columns of its qpos and of its qvel."""
        qpos, qvel = self.columns['qpos'].start, self.columns['qvel'].start
        for joint in self.joints:
            yield joint, range(qpos, qpos + joint.nq), range(qvel, qvel + joint.nv)
            qpos, qvel = qpos + joint.nq, qvel + joint.nv


@dataclass(frozen=True)
class RecordedTake:
    """
    A recording in memory.

    :ivar blocks: float64 arrays of shape (n, layout.width or more): further columns are not
        part of the frame.  They are not written to any more.
    :ivar timestep: seconds of simulation from frame to frame, None when not known.
    """

    layout: RecordingLayout
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


def encode(take: RecordedTake) -> Iterator[tuple[int, str]]:
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


def _template(layout: RecordingLayout) -> tuple[str, list[int]]:
    """Return the %-template of a frame and the columns in its order."""
    order, states = [0], []
    for joint, qpos, qvel in layout.joint_columns():
        order += [*qpos, *qvel]
        states.append(f'{_name(joint.name)}:{{"qPos":{_list(joint.nq)},"qVel":{_list(joint.nv)}}}')
    parts = ['"timestamp":%r', '"jointStates":{' + ','.join(states) + '}', _CAMERA]
    for key in ('ctrl', 'act'):
        columns = layout.columns[key]
        order += range(columns.start, columns.stop)
        parts.append(f'"{key}":{_list(columns.stop - columns.start)}')
    if layout.mocaps:
        for body in range(len(layout.mocaps)):
            pos = layout.columns['mocap_pos'].start + 3 * body
            quat = layout.columns['mocap_quat'].start + 4 * body
            order += [*range(pos, pos + 3), *range(quat, quat + 4)]
        parts.append('"mocap":[' + ','.join([_list(7)] * len(layout.mocaps)) + ']')
    return '{' + ','.join(parts) + '}', order


def _list(count: int) -> str:
    return '[' + ','.join(['%r'] * count) + ']'


def _text(value: object) -> str:
    return json.dumps(value, separators=(',', ':'))


def _name(name: str) -> str:
    return _text(name).replace('%', '%%')


MAX_VALUE_CHARS = 4 << 20  # text of one frame; a hundred robots stay below a tenth of it
_BLOCK_ROWS = 1024
_MISSING = object()


class MalformedRecording(WireError):
    """A file is not a recording; `where` names the frame or key."""

    def __init__(self, where: str, reason: str) -> None:
        self.where = where
        super().__init__(f'{where}: {reason}')


def decode(chunks: Iterable[str], limit: float = math.inf) -> RecordedTake:
    """
    Read a recording from the pieces of its text.

    :param limit: bytes that its frames may take.
    :raises MalformedRecording: for frames beyond the limit, text that is not JSON, or not that of
        a recording with at least one frame; all frames have the joints of the first.
    """
    text, rows, info = _Text(chunks), None, None
    text.skip('{', 'the file')
    while text.peek() != '}':
        key = text.value('a key')
        if not isinstance(key, str):
            raise MalformedRecording('the file', f'{key!r:.60} is not a key')
        text.skip(':', key)
        if key == FRAMES_KEY:
            if rows is not None:
                raise MalformedRecording(key, 'appears twice')
            rows = _frames(text, limit)
        elif key == INFO_KEY:
            info = text.value(key)
        else:
            text.value(key)
        if text.peek() == ',':
            text.skip(',', key)
        elif text.peek() != '}':
            text.fail(key)
    text.skip('}', 'the file')
    if text.peek():
        text.fail('after the end')
    if rows is None:
        raise MalformedRecording('the file', f'has no {FRAMES_KEY!r}')
    return rows.take(info)


def _frames(text: _Text, limit: float) -> _Rows:
    rows = _Rows(limit)
    text.skip('[', FRAMES_KEY)
    while text.peek() != ']':
        if rows.count:
            text.skip(',', rows.where)
        rows.add(text.value(rows.where))
    text.skip(']', FRAMES_KEY)
    return rows


class _Text:
    """A cursor over JSON text that comes in pieces."""

    def __init__(self, chunks: Iterable[str]) -> None:
        self._chunks = iter(chunks)
        self._text = ''
        self._at = 0
        self._decoder = json.JSONDecoder(parse_constant=_no_constant)

    def peek(self) -> str:
        """Pass over blanks; return the next character, '' at the end."""
        while True:
            text, at = self._text, self._at
            while at < len(text) and text[at] in ' \t\r\n':
                at += 1
            self._at = at
            if at < len(text):
                return text[at]
            if not self._more():
                return ''

    def skip(self, mark: str, where: str) -> None:
        """Pass over a mark that must come now."""
        if self.peek() != mark:
            self.fail(where, f'{mark!r}')
        self._at += 1

    def value(self, where: str) -> Any:
        """Return the JSON value that comes now."""
        self.peek()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except RecursionError:
                raise MalformedRecording(where, 'is nested too deeply') from None
            except ValueError as error:
                failure = error
            else:
                # A number at the edge of this piece may continue in the next one.
                if end < len(self._text) or not self._more():
                    self._at = end
                    return value
                continue
            if len(self._text) - self._at > MAX_VALUE_CHARS:
                raise MalformedRecording(where, f'has more than {MAX_VALUE_CHARS} characters')
            if not self._more():
                reason = getattr(failure, 'msg', str(failure))
                raise MalformedRecording(where, f'is not JSON: {reason}')

    def fail(self, where: str, expected: str = "',' or the end") -> NoReturn:
        """Raise the error of a character that does not belong here."""
        found = self.peek()
        seen = repr(found) if found else 'the end of the text'
        raise MalformedRecording(where, f'expected {expected}, found {seen}')

    def _more(self) -> bool:
        for chunk in self._chunks:
            if chunk:
                self._text, self._at = self._text[self._at :] + chunk, 0
                return True
        return False


class _Rows:
    """Collects frames as rows; the first frame defines the columns."""

    def __init__(self, limit: float) -> None:
        self.count = 0
        self._limit, self._bytes = limit, 0
        self._joints: list[RecordedJoint] = []
        self._sizes = (0, 0, 0)  # ctrl, act, mocap bodies
        self._rows: list[list[float]] = []
        self._blocks: list[np.ndarray] = []

    @property
    def where(self) -> str:
        """Return how messages call the frame that comes next."""
        return f'frame {self.count}'

    def add(self, frame: Any) -> None:
        """Take the next frame."""
        where = self.where
        states = _member(frame, 'jointStates', where)
        if not isinstance(states, dict):
            raise MalformedRecording(where, 'jointStates is not an object')
        extras = [_numbers(frame.get(key, []), key, where) for key in ('ctrl', 'act')]
        mocap = _poses(frame.get('mocap', []), where)
        sizes = (len(extras[0]), len(extras[1]), len(mocap))
        if not self.count:
            self._joints = [_joint(name, state, where) for name, state in states.items()]
            self._sizes = sizes
        elif sizes != self._sizes or len(states) != len(self._joints):
            raise MalformedRecording(where, 'differs in joints or values from the first frame')
        qpos: list[float] = []
        qvel: list[float] = []
        for joint in self._joints:
            state = states.get(joint.name, _MISSING)
            if state is _MISSING:
                raise MalformedRecording(where, f'joint {joint.name!r} is missing')
            for key, size, target in (('qPos', joint.nq, qpos), ('qVel', joint.nv, qvel)):
                values = _numbers(_member(state, key, where), key, where)
                if len(values) != size:
                    raise MalformedRecording(where, f'{key} of {joint.name!r} needs {size} values')
                target += values
        row = [_timestamp(frame, where), *qpos, *qvel, *extras[0], *extras[1]]
        row += [value for pose in mocap for value in pose[:3]]
        row += [value for pose in mocap for value in pose[3:]]
        if not set(map(type, row)) <= {int, float}:
            raise MalformedRecording(where, 'contains something that is not a number')
        self._rows.append(row)
        self.count += 1
        if len(self._rows) == _BLOCK_ROWS:
            self._pack()

    def take(self, info: Any) -> RecordedTake:
        """Return what was collected."""
        if not self.count:
            raise MalformedRecording(FRAMES_KEY, 'is empty')
        self._pack()
        info = info if isinstance(info, dict) else {}
        names = [
            _names(info.get(key), size, key)
            for key, size in zip(('actuators', 'activations', 'mocaps'), self._sizes, strict=True)
        ]
        timestep = info.get('timestep')
        if type(timestep) not in (int, float) or not math.isfinite(timestep):
            timestep = None
        return RecordedTake(
            RecordingLayout(tuple(self._joints), *names), tuple(self._blocks), timestep
        )

    def _pack(self) -> None:
        if not self._rows:
            return
        try:
            block = np.array(self._rows, dtype=np.float64)
        except OverflowError:
            block = np.array([[math.inf]])
        if not np.isfinite(block).all():
            first = self.count - len(self._rows)
            raise MalformedRecording(
                f'frames {first} to {self.count - 1}', 'hold a number that is too large'
            )
        self._blocks.append(block)
        self._rows = []
        self._bytes += block.nbytes
        if self._bytes > self._limit:
            raise MalformedRecording(
                f'{self.count} frames',
                f'take more than the {self._limit / 1e6:.0f} MB that are left',
            )


def _timestamp(frame: Any, where: str) -> float:
    """Return the time of a frame; it may be before that of the previous one, after a reset."""
    time = _member(frame, 'timestamp', where)
    if type(time) not in (int, float) or not 0 <= time <= MAX_TIME:
        raise MalformedRecording(
            where, f'timestamp {time!r:.40} is not a number of seconds from 0 to {MAX_TIME:g}'
        )
    return float(time)


def _joint(name: str, state: Any, where: str) -> RecordedJoint:
    sizes = tuple(
        len(_numbers(_member(state, key, where), key, where)) for key in ('qPos', 'qVel')
    )
    if sizes not in JOINT_WIDTHS:
        raise MalformedRecording(
            where,
            f'joint {name!r} has {sizes[0]} qPos and {sizes[1]} qVel; '
            'a joint has 1 and 1, 4 and 3, or 7 and 6',
        )
    return RecordedJoint(name, *sizes)


def _member(mapping: Any, key: str, where: str) -> Any:
    """Return a member by its key, else by the key in another case."""
    if not isinstance(mapping, dict):
        raise MalformedRecording(where, f'{mapping!r:.60} is not an object')
    value = mapping.get(key, _MISSING)
    if value is _MISSING:
        lowered = {name.lower(): member for name, member in mapping.items()}
        value = lowered.get(key.lower(), _MISSING)
    if value is _MISSING:
        raise MalformedRecording(where, f'has no {key!r}')
    return value


def _numbers(value: Any, key: str, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise MalformedRecording(where, f'{key} is {value!r:.60}, not a list')
    return value


def _poses(value: Any, where: str) -> list[list[Any]]:
    poses = _numbers(value, 'mocap', where)
    for pose in poses:
        if len(_numbers(pose, 'mocap', where)) != 7:
            raise MalformedRecording(where, 'a mocap pose has 7 values')
    return poses


def _names(value: Any, size: int, key: str) -> tuple[str, ...]:
    """Return the names of extra values; without any they have none and fit nothing."""
    if value is None:
        return ('',) * size
    if not isinstance(value, list) or len(value) != size or set(map(type, value)) - {str}:
        raise MalformedRecording(f'{INFO_KEY}.{key}', f'{value!r:.60} are not {size} names')
    return tuple(value)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f'{name} is not allowed')
