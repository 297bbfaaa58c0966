# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Every decoder on its corpus and on inputs that are like it; `make fuzz` tries millions."""

from collections import Counter
from copy import deepcopy
import json
from pathlib import Path
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

NAMES = sorted(TARGETS)
COMPILED = ('compiled_model', 'mesh_obj', 'mesh_stl')  # in another process: milliseconds each
NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 0xFFFF, 1 << 31, (1 << 32) - 1, 1 << 63, (1 << 64) - 1)
ODD_NUMBERS = [struct.pack(form, number & (1 << 8 * struct.calcsize(form)) - 1)
               for form in ('<B', '<H', '<I', '<Q', '>I', '>Q') for number in NUMBERS]  # fmt: skip
ODD_NUMBERS += [struct.pack('<d', value) for value in (float('nan'), float('inf'), 1e308, 5e-324)]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
    | st.sampled_from(['!date', '!bytes', '!set', '!int keys', '!huge', '../../x', 'x' * 300]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)  # fmt: skip


def corpus_of(name):
    return [path.read_bytes() for path in sorted((CORPUS / name).iterdir())]


@st.composite
def changed_bytes(draw, corpus, words):
    """A file of the corpus with some bytes exchanged, put in or cut off."""
    data = bytearray(draw(st.sampled_from(corpus)))
    others = st.sampled_from(corpus).map(lambda other: other[len(other) // 2 :])
    piece = st.binary(max_size=8) | st.sampled_from([*words, *words, *ODD_NUMBERS]) | others
    for _ in range(draw(st.integers(0, 5))):
        at = draw(st.integers(0, len(data)))
        data[at : at + draw(st.sampled_from((0, 0, 1, 1, 1, 2, 2, 4, 8, 40, 1 << 20)))] = draw(
            piece
        )
    return bytes(data)


@st.composite
def changed_values(draw, corpus):
    """The values of a file of the corpus with some exchanged, left out or moved to other keys."""
    whole = [deepcopy(draw(st.sampled_from([json.loads(data) for data in corpus])))]
    for _ in range(draw(st.integers(1, 5))):
        places = list(places_in(whole))
        within, key = places[draw(st.integers(0, len(places) - 1))]
        keys = [key for _, key in places if isinstance(key, str)]
        change = draw(st.sampled_from(('value', 'drop', 'move', 'elsewhere')))
        if change == 'value' or within is whole:
            within[key] = draw(VALUES)
        elif change == 'elsewhere':
            within[key] = deepcopy(places[draw(st.integers(0, len(places) - 1))][0])
        else:
            value = within.pop(key)
            if change == 'move' and isinstance(within, dict):
                within[draw(st.sampled_from(keys) | st.text(max_size=4))] = value
    return json.dumps(whole[0]).encode()


def places_in(container):
    """Yield (container, key) of every value below a container."""
    for key in list(container) if isinstance(container, dict) else range(len(container)):
        yield container, key
        if isinstance(container[key], dict | list):
            yield from places_in(container[key])


@pytest.mark.parametrize('name', NAMES)
def test_the_corpus_has_accepted_inputs(name):
    assert Counter(map(TARGETS[name].outcome, corpus_of(name)))['taken']


@pytest.mark.parametrize('name', NAMES)
def test_a_decoder_returns_or_raises_what_it_documents(name):
    target, corpus = TARGETS[name], corpus_of(name)
    values = name.endswith('_values')
    inputs = changed_values(corpus) if values else changed_bytes(corpus, target.words)
    outcomes = Counter()

    @settings(max_examples=examples(100 if name in COMPILED else 400))
    @given(inputs)
    def holds(data):
        outcomes[target.outcome(data)] += 1

    holds()
    print(name, dict(outcomes))
