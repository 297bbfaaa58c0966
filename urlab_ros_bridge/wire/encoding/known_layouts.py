# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
msgpack frames that differ from an earlier one in nothing but their numbers.

A client that steps gets the same maps, keys and lists in each reply.  What was found out about one
of them, that nothing is nested too deep and that all keys are text, holds for the others.
"""

from __future__ import annotations

from urlab_ros_bridge.wire.encoding import stepwise

MAX_LAYOUTS = 16  # kept at a time
LEARNING_BUDGET = 200  # layouts worked out at all; frames that never repeat end it
LONGEST = 1 << 14  # bytes; above that, looking is no longer cheap


class KnownLayouts:
    """Remembers layouts; any thread may use it."""

    def __init__(self) -> None:
        # Length -> bits of everything but numbers, and their values.
        self._known: dict[int, list[tuple[int, int]]] = {}
        self._kept = 0
        self._budget = LEARNING_BUDGET
        self._last_length = -1

    def knows(self, frame: bytes) -> bool:
        """Return whether a frame has a layout that was learnt."""
        found = self._known.get(len(frame))
        if found is None:
            return False
        bits = int.from_bytes(frame, 'big')
        for mask, fixed in found:  # noqa: SIM110  (a generator costs more than the rest)
            if bits & mask == fixed:
                return True
        return False

    def learn(self, frame: bytes) -> None:
        """
        Remember the layout of a frame that comes again; it was decoded and found good.

        Worked out when two frames of the same length come in a row, so that those which are all
        different cost nothing.
        """
        size, last = len(frame), self._last_length
        self._last_length = size
        if size != last or size > LONGEST or self._budget <= 0:
            return
        self._budget -= 1
        if self._kept >= MAX_LAYOUTS:
            self._known, self._kept = {}, 0
        mask = bytearray(b'\xff') * size
        for start, end in _numbers(frame):
            mask[start:end] = bytes(end - start)
        bits = int.from_bytes(mask, 'big')
        self._known.setdefault(size, []).append((bits, int.from_bytes(frame, 'big') & bits))
        self._kept += 1


def _numbers(frame: bytes) -> list[tuple[int, int]]:
    """Return where the numbers of a frame are, without their first bytes."""
    found, at = [], 0
    while at < len(frame):
        head = stepwise.HEADS[frame[at]]
        at += 1
        if head is None or head[0] == stepwise.CONSTANT:
            continue
        kind, size = head
        if kind == stepwise.NUMBER:
            found.append((at, at + size.size))
            at += size.size
            continue
        if not isinstance(size, int):
            layout = size
            size = layout.unpack_from(frame, at)[0]
            at += layout.size
        if kind == stepwise.EXTENSION:
            at += 1 + size
        elif kind in (stepwise.TEXT, stepwise.BINARY):
            at += size
    return found


__all__ = ['KnownLayouts']
