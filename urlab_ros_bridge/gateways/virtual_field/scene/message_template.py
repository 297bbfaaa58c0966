# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Messages of which only some rows of numbers change: everything else is made into JSON once."""

from __future__ import annotations

from collections.abc import Sequence
import operator

import orjson

from urlab_ros_bridge.gateways.virtual_field.scene.pose_numbers import Part

# Stands around what is left open; JSON has no such byte.
_MARK = b'\0'
# The last of the rows that a template is filled with.
LAST = -1


class MessageTemplate:
    """A message with places for rows of numbers."""

    def __init__(self, text: bytes) -> None:
        """
        Take a message.

        :param text: JSON with `left_open` parts.
        """
        parts = text.split(_MARK)
        # What does not change, and between each two of these a row.
        self._parts = parts
        places = [int(place) for place in parts[1::2]]
        # Of one place it would return the row itself.
        self._choose = operator.itemgetter(*places, LAST) if places else None

    def fill(self, rows: Sequence[bytes]) -> bytes:
        """Return the message with these rows in its places."""
        if self._choose is not None:
            self._parts[1::2] = self._choose(rows)[:-1]
        return b''.join(self._parts)


def left_open(row: int) -> orjson.Fragment:
    """Return a part of a message into which a row comes, as it is."""
    return orjson.Fragment(b'%b%d%b' % (_MARK, row, _MARK))


def open_rows(part: Part) -> list[orjson.Fragment]:
    """Return lists into which the rows of a part come."""
    return [
        orjson.Fragment(b'[%b%d%b]' % (_MARK, row, _MARK))
        for row in range(part.row, part.row + part.shape[0])
    ]


__all__ = ['LAST', 'MessageTemplate', 'left_open', 'open_rows']
