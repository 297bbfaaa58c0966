# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Every decoder on its corpus and on inputs that are like it; `make fuzz` tries millions."""

from collections import Counter
from pathlib import Path
import re
import struct
import sys

from example_counts import examples
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from fuzz_targets import CORPUS
from fuzz_targets import TARGETS

COMPILED = ('compiled_model', 'mesh_obj', 'mesh_stl')  # in another process: milliseconds each
TOKEN = re.compile(rb'"[^"]*"|[-+.\w]+')
ODD_BYTES = (b'', b'\0' * 8, b'\x7f', b'\x80', b'\xff' * 4, b'\xff' * 8, b'\xff' * 7 + b'\x7f',
             struct.pack('<d', float('inf')), struct.pack('<d', 5e-324))  # fmt: skip


ROUNDS, SIZES = st.sampled_from((1, 1, 3)), st.sampled_from((0, 1, 1, 2, 8, 1 << 20))


@st.composite
def changed(draw, files, pieces):
    """A file of the corpus with some tokens or bytes exchanged, put in or cut off."""
    data = draw(files)
    for _ in range(draw(ROUNDS)):
        begin = draw(st.integers(0, len(data)))
        end = begin + draw(SIZES)
        if draw(st.booleans()):  # the token there
            token = TOKEN.search(data, begin)
            begin, end = token.span() if token else (begin, end)
        piece = draw(pieces)
        data = data[:begin] + (data[begin:end] * 2 if piece is None else piece) + data[end:]
    return data


@pytest.mark.parametrize('name', sorted(TARGETS))
def test_a_decoder_returns_or_raises_what_it_documents(name):
    target = TARGETS[name]
    corpus = [path.read_bytes() for path in sorted((CORPUS / name).iterdir())]
    assert 'taken' in map(target.outcome, corpus)
    # None: what is there, twice.
    pieces = st.binary(max_size=8) | st.sampled_from([*target.words, *ODD_BYTES]) | st.none()
    inputs, outcomes = changed(st.sampled_from(corpus), pieces), Counter()

    @settings(max_examples=examples(80 if name in COMPILED else 320))
    @given(inputs)
    def holds(data):
        outcomes[target.outcome(data)] += 1

    holds()
    print(name, dict(outcomes))
