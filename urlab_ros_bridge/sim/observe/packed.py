# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Messages of fixed shape, packed once.

A step reply or snapshot has the same keys and vector lengths every time; only its numbers change.
So the message is packed once with marks in place of the numbers; afterwards each frame is a copy
of those bytes with the numbers written over the marks.  `bench/step_rate.py` shows what it gains.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
import struct
import time
from typing import Any

import numpy as np

from urlab_ros_bridge.wire.encoding import codec
from urlab_ros_bridge.wire.stamp import NANOSECONDS

Tree = dict[str, Any]

# Numbers that never occur, on each of which msgpack spends nine bytes.
_FLOAT_MARK = -1.2345678987654321e-301
# Negative, so that it is packed as a signed number.
_INTEGER_MARK = -0x7EDC_BA98_7654_3210
_FLOAT = struct.pack('>Bd', 0xCB, _FLOAT_MARK)
_INTEGER = struct.pack('>Bq', 0xD3, _INTEGER_MARK)


class ObservationLayout:
    """
    A tree of live arrays: views into MjData, or copies that `refresh` brings up to date.

    :ivar tree: nested maps; leaves are float64 arrays of shape (n,), or int64 without dimension.
    """

    def __init__(self, tree: Tree, refresh: list[Callable[[], None]]) -> None:
        self.tree = tree
        self._refresh = tuple(refresh)

    def refresh(self) -> None:
        """Bring the leaves that are copies up to date."""
        for update in self._refresh:
            update()

    def numbers(self) -> Tree:
        """Return the tree as it is now, with lists and integers for leaves."""
        self.refresh()
        return _numbers(self.tree)


class PackedMessage:
    """
    The msgpack frame of {op, time, step, sim_time, wall_time, *layout.tree, *fixed}.

    Integers have full width here, which decoders read like short ones.
    """

    def __init__(self, op: str, layout: ObservationLayout, fixed: Tree | None = None) -> None:
        clock = {'sec': _INTEGER_MARK, 'nsec': _INTEGER_MARK}
        message = {
            'op': op,
            'time': _FLOAT_MARK,
            'step': _INTEGER_MARK,
            'sim_time': clock,
            'wall_time': clock,
            **_marked(layout.tree),
            **(fixed or {}),
        }
        self._layout = layout
        self._frame = frame = bytearray(codec.pack(message))
        self._start, place = frame.index(_FLOAT) + 1, 0
        texts, formats, end = [], ['>d'], self._start + 8
        for _ in range(5):
            place = frame.index(_INTEGER, end) + 1
            texts.append(bytes(frame[end:place]))
            formats.append(f'{place - end}sq')
            end = place + 8
        self._texts = tuple(texts)
        self._header = struct.Struct(''.join(formats))
        self._places = tuple(self._find_places(end))

    def _find_places(self, end: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield a view of the place of each leaf in the frame, and the leaf."""
        frame = self._frame
        for leaf in _leaves(self._layout.tree):
            # Each number is a type byte and eight bytes, big-endian.
            if not leaf.ndim:
                place = frame.index(_INTEGER, end) + 1
                yield np.ndarray((), '>i8', frame, place), leaf
                end = place + 8
            elif leaf.size:
                place = frame.index(_FLOAT * leaf.size, end) + 1
                yield np.ndarray(leaf.shape, '>f8', frame, place, (9,)), leaf
                end = place + 9 * leaf.size - 1

    def pack(self, sim_seconds: float, sim_ns: int, step: int) -> bytes:
        """Return the frame with the numbers as they are now; the arrays must hold still."""
        self._layout.refresh()
        frame = self._frame
        for target, source in self._places:
            target[...] = source  # takes half the time of [:], which makes a view first
        sec, nsec = divmod(sim_ns, NANOSECONDS)
        wall_sec, wall_nsec = divmod(time.time_ns(), NANOSECONDS)
        a, b, c, d, e = self._texts
        self._header.pack_into(
            frame, self._start, sim_seconds, a, step, b, sec, c, nsec, d, wall_sec, e, wall_nsec
        )
        return bytes(frame)


def _leaves(tree: Tree) -> Iterator[np.ndarray]:
    for value in tree.values():
        if type(value) is dict:
            yield from _leaves(value)
        else:
            yield value


def _marked(tree: Tree) -> Tree:
    return {
        key: _marked(value)
        if type(value) is dict
        else ([_FLOAT_MARK] * value.size if value.ndim else _INTEGER_MARK)
        for key, value in tree.items()
    }


def _numbers(tree: Tree) -> Tree:
    return {
        key: _numbers(value) if type(value) is dict else value.tolist()
        for key, value in tree.items()
    }
