# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A compiled name belongs to one articulation: that of the longest prefix that fits."""

from hypothesis import given
from hypothesis import strategies as st

from urlab_ros_bridge.wire.names import compiled_name
from urlab_ros_bridge.wire.names import Prefixes

# Few letters, so that prefixes begin with each other often.
words = st.text('ab_', min_size=1, max_size=4)
prefix_sets = st.sets(words, max_size=6)


@given(prefix_sets, words)
def test_the_longest_prefix_that_fits_owns_a_name(prefixes, name):
    owner, local = Prefixes(prefixes).split(name)
    assert compiled_name(owner, local) == name
    fits = [prefix for prefix in prefixes if name.startswith(f'{prefix}_')]
    assert owner == max(fits, key=len, default='')


@given(prefix_sets, st.sets(words, max_size=8))
def test_every_name_belongs_to_one_articulation_or_none(prefixes, names):
    split = Prefixes(prefixes)
    for name in names:
        owners = [prefix for prefix in prefixes if split.local(prefix, name) is not None]
        assert owners == ([split.owner(name)] if split.owner(name) else [])


def test_an_empty_prefix_owns_the_remaining_names():
    split = Prefixes(['', 'arm'])
    assert split.split('arm_j1') == ('arm', 'j1') and split.split('j1') == ('', 'j1')
    assert split.local('', 'j1') == 'j1' and split.local('', 'arm_j1') is None
