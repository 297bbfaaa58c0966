# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Reading recordings, frame by frame, so that a file larger than the memory's comfort can be read.

Total: any text gives a `Take` or `MalformedRecording`.  Inner keys are read without regard to
case, as the stock plugin does.
"""

from __future__ import annotations

from collections.abc import Iterable
import json
import math
from typing import Any
from typing import NoReturn

import numpy as np

from urlab_ros_bridge.wire.errors import WireError
from urlab_ros_bridge.wire.recording import FRAMES_KEY
from urlab_ros_bridge.wire.recording import INFO_KEY
from urlab_ros_bridge.wire.recording import Joint
from urlab_ros_bridge.wire.recording import JOINT_WIDTHS
from urlab_ros_bridge.wire.recording import Layout
from urlab_ros_bridge.wire.recording import Take

MAX_VALUE_CHARS = 4 << 20  # text of one frame; a hundred robots stay below a tenth of it
_BLOCK_ROWS = 1024
_MISSING = object()


class MalformedRecording(WireError):
    """A file is no recording; `where` names the frame or key."""

    def __init__(self, where: str, reason: str) -> None:
        self.where = where
        super().__init__(f'{where}: {reason}')


def decode(chunks: Iterable[str]) -> Take:
    """
    Read a recording from the pieces of its text.

    :raises MalformedRecording: for text that is not JSON, or not that of a recording with at
        least one frame; all frames have the joints of the first.
    """
    text, rows, info = _Text(chunks), None, None
    text.skip('{', 'the file')
    while text.peek() != '}':
        key = text.value('a key')
        if not isinstance(key, str):
            raise MalformedRecording('the file', f'{key!r:.60} is no key')
        text.skip(':', key)
        if key == FRAMES_KEY:
            if rows is not None:
                raise MalformedRecording(key, 'is there twice')
            rows = _frames(text)
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


def _frames(text: _Text) -> _Rows:
    rows = _Rows()
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
                # A number at the edge of what is there may go on in the next piece.
                if end < len(self._text) or not self._more():
                    self._at = end
                    return value
                continue
            if len(self._text) - self._at > MAX_VALUE_CHARS:
                raise MalformedRecording(where, f'has more than {MAX_VALUE_CHARS} characters')
            if not self._more():
                reason = getattr(failure, 'msg', str(failure))
                raise MalformedRecording(where, f'is no JSON: {reason}')

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
    """Collects frames as rows; the first frame tells what there is."""

    def __init__(self) -> None:
        self.count = 0
        self._joints: list[Joint] = []
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
            raise MalformedRecording(where, 'jointStates is no object')
        extras = [_numbers(frame.get(key, []), key, where) for key in ('ctrl', 'act')]
        mocap = _poses(frame.get('mocap', []), where)
        sizes = (len(extras[0]), len(extras[1]), len(mocap))
        if not self.count:
            self._joints = [_joint(name, state, where) for name, state in states.items()]
            self._sizes = sizes
        elif sizes != self._sizes or len(states) != len(self._joints):
            raise MalformedRecording(where, 'has not the joints and values of the first frame')
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
        row = [_member(frame, 'timestamp', where), *qpos, *qvel, *extras[0], *extras[1]]
        row += [value for pose in mocap for value in pose[:3]]
        row += [value for pose in mocap for value in pose[3:]]
        if not set(map(type, row)) <= {int, float}:
            raise MalformedRecording(where, 'holds something that is no number')
        self._rows.append(row)
        self.count += 1
        if len(self._rows) == _BLOCK_ROWS:
            self._pack()

    def take(self, info: Any) -> Take:
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
        return Take(Layout(tuple(self._joints), *names), tuple(self._blocks), timestep)

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


def _joint(name: str, state: Any, where: str) -> Joint:
    sizes = tuple(
        len(_numbers(_member(state, key, where), key, where)) for key in ('qPos', 'qVel')
    )
    if sizes not in JOINT_WIDTHS:
        raise MalformedRecording(
            where,
            f'joint {name!r} has {sizes[0]} qPos and {sizes[1]} qVel; '
            'a joint has 1 and 1, 4 and 3, or 7 and 6',
        )
    return Joint(name, *sizes)


def _member(mapping: Any, key: str, where: str) -> Any:
    """Return a member by its key, else by the key in another case."""
    if not isinstance(mapping, dict):
        raise MalformedRecording(where, f'{mapping!r:.60} is no object')
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
