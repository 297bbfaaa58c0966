# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What the first byte of a msgpack value means."""

from __future__ import annotations

import struct
from typing import Any

CONSTANT, NUMBER, TEXT, BINARY, LIST, MAP, EXTENSION = range(7)


def _heads() -> list[tuple[int, Any] | None]:
    """Return what each first byte of a value means: its kind, and value, size or layout."""
    heads: list[tuple[int, Any] | None] = [None] * 256
    for byte in range(0x80):
        heads[byte] = (CONSTANT, byte)
    for byte in range(0xE0, 0x100):
        heads[byte] = (CONSTANT, byte - 0x100)
    for low in range(16):
        heads[0x80 + low] = (MAP, low)
        heads[0x90 + low] = (LIST, low)
    for low in range(32):
        heads[0xA0 + low] = (TEXT, low)
    for byte, value in ((0xC0, None), (0xC2, False), (0xC3, True)):
        heads[byte] = (CONSTANT, value)
    for first, kind, layouts in (
        (0xC4, BINARY, 'BHI'),
        (0xC7, EXTENSION, 'BHI'),
        (0xCA, NUMBER, 'fdBHIQbhiq'),
        (0xD9, TEXT, 'BHI'),
        (0xDC, LIST, 'HI'),
        (0xDE, MAP, 'HI'),
    ):
        for place, layout in enumerate(layouts):
            heads[first + place] = (kind, struct.Struct('>' + layout))
    for place in range(5):
        heads[0xD4 + place] = (EXTENSION, 1 << place)
    return heads


HEADS = _heads()
