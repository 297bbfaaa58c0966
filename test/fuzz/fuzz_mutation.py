# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Inputs from a corpus: bytes changed, cut, repeated and spliced, words of the language put in."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
import random
import struct

_ODD = (0, 1, 0x7F, 0x80, 0xFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 63, (1 << 64) - 1)
_FLOATS = (float('nan'), float('inf'), -0.0, 1e308, 5e-324)
MAX_BYTES = 1 << 14


class Mutator:
    """A seeded source of inputs: the same seed gives the same inputs."""

    def __init__(self, corpus: Sequence[bytes], words: Sequence[bytes], seed: int) -> None:
        self._corpus = list(corpus) or [b'']
        self._words = list(words) or [b'\0']
        self._random = random.Random(seed)

    def inputs(self, count: int) -> Iterator[bytes]:
        """Yield so many inputs."""
        for _ in range(count):
            yield self.one()

    def one(self) -> bytes:
        """Return an input: seldom noise alone, mostly a file of the corpus, changed a little."""
        chance = self._random
        if chance.random() < 0.03:
            return chance.randbytes(chance.randrange(64))
        return self.changed(chance.choice(self._corpus))

    def changed(self, content: bytes) -> bytes:
        """Return a content, changed a little."""
        data = bytearray(content)
        for _ in range(self._random.choice((1, 1, 1, 2, 2, 3, 5, 9))):
            self._change(data)
        return bytes(data[:MAX_BYTES])

    def _change(self, data: bytearray) -> None:
        chance = self._random
        at = chance.randrange(len(data) + 1)
        kind = chance.randrange(10)
        length = chance.choice((1, 1, 2, 4, 8, 16, 64))
        if kind == 0 and at < len(data):
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 1 and at < len(data):
            data[at] = chance.randrange(256)
        elif kind == 2:
            del data[at : at + length]
        elif kind == 3:
            del data[at:]
        elif kind == 4:
            data[at:at] = data[at : at + length] * chance.choice((1, 2, 20))
        elif kind == 5:
            data[at:at] = chance.choice(self._words)
        elif kind == 6:
            data[at : at + length] = chance.choice(self._words)
        elif kind == 7:
            form = chance.choice(('<B', '<H', '<I', '<Q', '>I', '>Q'))
            size = struct.calcsize(form)
            data[at : at + size] = struct.pack(form, chance.choice(_ODD) & (1 << 8 * size) - 1)
        elif kind == 8:
            form = chance.choice(('<f', '<d', '>d'))
            value = chance.choice(_FLOATS)
            odd = 3.4e38 if form == '<f' and abs(value) > 1e300 else value
            data[at : at + struct.calcsize(form)] = struct.pack(form, odd)
        else:
            other = chance.choice(self._corpus)
            begin = chance.randrange(len(other) + 1)
            data[at:] = other[begin:]
