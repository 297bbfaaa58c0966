# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Step requests that differ from an earlier one in their setpoints only.

A policy sends the same request some thousand times with other numbers.  Once such a request has
been understood, its bytes are kept; a frame with the same bytes but for the numbers needs neither
decoding nor looking up, only the check of the numbers.  Whatever looks different in any way takes
the ordinary path, so there is one meaning of a request and a short cut to it.
"""

from __future__ import annotations

from collections.abc import Sequence
import math
import struct
from typing import Any

from urlab_ros_bridge.sim.requests.fields import MAX_MAGNITUDE
from urlab_ros_bridge.sim.requests.setpoints import ANGULAR
from urlab_ros_bridge.sim.requests.setpoints import CTRL
from urlab_ros_bridge.sim.requests.setpoints import LINEAR
from urlab_ros_bridge.sim.requests.setpoints import setpoints
from urlab_ros_bridge.sim.requests.setpoints import TWIST
from urlab_ros_bridge.sim.requests.setpoints import with_setpoints
from urlab_ros_bridge.wire.encoding import codec

MAX_SHAPES = 16  # kept at a time
LEARNING_BUDGET = 1000  # shapes worked out at all; a client that never repeats itself ends it
MAX_NUMBERS = 4096
_STEP_FIELDS = {
    'op',
    'session_id',
    'n_steps',
    'observations',
    'include_cameras',
    'topics',
    'while_live',
    'per_articulation',
}
_BLOCK_FIELDS = {CTRL, TWIST, 'control_mode'}
_TWIST_FIELDS = {LINEAR, ANGULAR, 'timeout', 'resets'}
_NO_TWIST: dict[str, Any] = {LINEAR: [], ANGULAR: []}
_MARK = -1.2345678987654321e-301
_MARKED = struct.pack('>Bd', 0xCB, _MARK)


class RequestShape:
    """
    The bytes of one step request around the numbers of its setpoints.

    The vectors are in the order of `requests.setpoints`.
    """

    def __init__(self, frame: bytes, sizes: Sequence[int]) -> None:
        """Take a frame whose numbers are all `_MARK`."""
        self._fixed: list[tuple[slice, bytes]] = []
        self._vectors: list[tuple[slice, bytes, int, struct.Struct]] = []
        end = 0
        for size in sizes:
            start = frame.index(_MARKED * size, end)
            self._fixed.append((slice(end, start), frame[end:start]))
            end = start + 9 * size
            # Each number is a byte 0xcb and a big-endian float64.
            self._vectors.append(
                (slice(start, end, 9), b'\xcb' * size, start, struct.Struct('>' + 'xd' * size))
            )
        self._fixed.append((slice(end, None), frame[end:]))

    def read(self, frame: bytes) -> list[tuple[float, ...]] | None:
        """Return the vectors of a frame of the same length, None when it is of another shape."""
        for place, text in self._fixed:
            if frame[place] != text:
                return None
        vectors = []
        for place, marks, start, numbers in self._vectors:
            if frame[place] != marks:
                return None
            values = numbers.unpack_from(frame, start)
            # The norm is at least as large as any of them, and NaN where one is.  What exceeds it
            # the ordinary path looks at, and refuses if need be.
            if not math.hypot(*values) <= MAX_MAGNITUDE:
                return None
            vectors.append(values)
        return vectors


def may_have_shape(request: dict[str, Any]) -> bool:
    """Return whether a request has the fields of sticky setpoints, and no others."""
    blocks = request.get('per_articulation')
    if not request.keys() <= _STEP_FIELDS or request.get('include_cameras') or not blocks:
        return False
    return type(blocks) is dict and all(map(_may_repeat, blocks.values()))


def _may_repeat(block: Any) -> bool:
    """Return whether what a request says of one articulation is setpoints, and no more."""
    if type(block) is not dict or not block.keys() <= _BLOCK_FIELDS:
        return False
    twist = block.get(TWIST, _NO_TWIST)
    return (
        (CTRL in block or TWIST in block)
        and type(block.get(CTRL, [])) is list
        and type(twist) is dict
        and twist.keys() <= _TWIST_FIELDS
        and type(twist.get(LINEAR)) is type(twist.get(ANGULAR)) is list
    )


def shape_of(frame: bytes, request: dict[str, Any]) -> RequestShape | None:
    """
    Return the shape of a step request, None when it says more than sticky setpoints.

    :param request: the frame, decoded.
    """
    if not may_have_shape(request) or frame != codec.pack(request):
        return None
    blocks = request['per_articulation']
    vectors = [vector for _, _, vector in setpoints(blocks)]
    if any(set(map(type, vector)) != {float} for vector in vectors):
        return None
    sizes = list(map(len, vectors))
    if sum(sizes) > MAX_NUMBERS:
        return None
    marked = with_setpoints(blocks, [[_MARK] * size for size in sizes])
    return RequestShape(codec.pack({**request, 'per_articulation': marked}), sizes)


class RepeatedRequests:
    """
    Remembers shapes, each with the call that it stands for.

    A shape is worked out when two frames of the same length come in a row, so that a client whose
    requests are all different pays nothing.
    """

    def __init__(self) -> None:
        self._shapes: dict[int, list[tuple[RequestShape, Any]]] = {}
        self._last_length = -1
        self._kept = 0
        self._budget = LEARNING_BUDGET

    def find(self, frame: bytes) -> tuple[Any, list[tuple[float, ...]]] | None:
        """Return what is remembered of a frame's shape, and the numbers of this one."""
        for shape, call in self._shapes.get(len(frame), ()):
            vectors = shape.read(frame)
            if vectors is not None:
                return call, vectors
        return None

    def worth_learning(self, frame: bytes, request: dict[str, Any]) -> bool:
        """Return whether this frame is as long as the one before it, and may have a shape."""
        last, self._last_length = self._last_length, len(frame)
        return last == len(frame) and self._budget > 0 and may_have_shape(request)

    def remember(self, frame: bytes, request: dict[str, Any], call: Any) -> None:
        """Keep the shape of an understood request, if it has one."""
        self._budget -= 1
        shape = shape_of(frame, request)
        if shape is None:
            return
        if self._kept >= MAX_SHAPES:
            self.forget()
        self._kept += 1
        self._shapes.setdefault(len(frame), []).append((shape, call))

    def forget(self) -> None:
        """Forget every shape: the world or the sessions are others now."""
        self._shapes = {}
        self._kept = 0


__all__ = ['RepeatedRequests', 'RequestShape', 'may_have_shape', 'shape_of']
