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


@st.composite
def changed(draw, corpus, words):
    """A file of the corpus with some tokens or bytes exchanged, put in or cut off."""
    data = draw(st.sampled_from(corpus))
    piece = st.binary(max_size=8) | st.sampled_from([*words, *ODD_BYTES])
    for _ in range(draw(st.sampled_from((1, 1, 3)))):
        tokens = [match.span() for match in TOKEN.finditer(data)]
        begin = draw(st.integers(0, len(data)))
        end = begin + draw(st.sampled_from((0, 1, 1, 2, 8, 1 << 20)))
        if tokens and draw(st.booleans()):
            begin, end = draw(st.sampled_from(tokens))
        data = data[:begin] + draw(piece | st.just(data[begin : 2 * end - begin])) + data[end:]
    return data


@pytest.mark.parametrize('name', sorted(TARGETS))
def test_a_decoder_returns_or_raises_what_it_documents(name):
    target = TARGETS[name]
    corpus = [path.read_bytes() for path in sorted((CORPUS / name).iterdir())]
    assert 'taken' in map(target.outcome, corpus)
    outcomes = Counter()

    @settings(max_examples=examples(80 if name in COMPILED else 240))
    @given(changed(corpus, target.words))
    def holds(data):
        outcomes[target.outcome(data)] += 1

    holds()
    print(name, dict(outcomes))
