# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A frame that is written in place says what building and packing the map says."""

from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import msgpack
import numpy as np
import pytest

from urlab_ros_bridge.sim.physics.observer import ObservationView
from urlab_ros_bridge.sim.physics.packed import ObservationLayout
from urlab_ros_bridge.sim.physics.packed import PackedMessage
from urlab_ros_bridge.wire.encoding import codec
from urlab_ros_bridge.wire.ops import OBSERVATION_LEVELS

floats = st.floats(width=64)
vectors = st.lists(floats, max_size=6).map(lambda values: np.array(values, dtype=np.float64))
counts = st.integers(0, 2**63 - 1).map(lambda value: np.array(value, np.int64))
trees = st.recursive(
    st.one_of(vectors, counts),
    lambda children: st.dictionaries(st.text(max_size=8), children, max_size=4),
    max_leaves=12,
)


@given(
    tree=st.dictionaries(
        st.text(max_size=8).filter(
            lambda key: key not in ('op', 'time', 'step', 'sim_time', 'wall_time', 'mode')
        ),
        trees,
        max_size=4,
    ),
    time=floats,
    ns=st.integers(-(2**63), 2**63 - 1),
    step=st.integers(0, 2**63 - 1),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_tree_packs_to_what_it_holds_at_that_moment(tree, time, ns, step, seed):
    layout = ObservationLayout(tree, [])
    message = PackedMessage('step_ok', layout, {'mode': 'live'})
    random = np.random.default_rng(seed)
    for leaf in _leaves(tree):
        leaf[...] = random.integers(0, 2**60, leaf.shape)
    reply = codec.unpack(message.pack(time, ns, step), 1 << 30)
    wall = reply.pop('wall_time')
    assert set(wall) == {'sec', 'nsec'} and wall['nsec'] < 1e9
    expected = {
        'op': 'step_ok',
        'time': time,
        'step': step,
        'sim_time': {'sec': ns // 10**9, 'nsec': ns % 10**9},
        **layout.numbers(),
        'mode': 'live',
    }
    # Packed, so that NaN equals NaN.
    assert msgpack.packb(reply) == msgpack.packb(expected)


def _leaves(tree):
    for value in tree.values():
        if isinstance(value, dict):
            yield from _leaves(value)
        else:
            yield value


@pytest.mark.parametrize('world', ['rover', 'quadruped'])
@pytest.mark.parametrize('level', OBSERVATION_LEVELS)
def test_a_packed_reply_equals_the_built_one_in_any_state(rig, world, level):
    made = rig(world=world)
    made.ask('set_mode', mode='direct')
    observer, random = made.context.observer, np.random.default_rng(3)
    for _ in range(5):
        made.data.qvel[:] += random.normal(size=made.model.nv) * 0.1
        made.data.ctrl[:] = random.normal(size=made.model.nu)
        made.ask('step', n_steps=3)
        built, packed = (
            observer.observe(ObservationView(level), 3),
            codec.unpack(observer.packed(ObservationView(level), 3)),
        )
        for reply in (built, packed):
            del reply['wall_time']
        assert packed == {'op': 'step_ok', **built}
        assert _lengths(packed) == _lengths(built) | {'op': None}


def _lengths(value):
    if isinstance(value, dict):
        return {key: _lengths(item) for key, item in value.items()}
    return len(value) if isinstance(value, list) else None


@settings(max_examples=10)
@given(states=st.lists(st.floats(-1, 1), min_size=2, max_size=2))
def test_copies_of_scattered_slots_are_refreshed(states):
    source = np.zeros(4)
    copy = np.zeros(2)
    layout = ObservationLayout({'x': copy}, [lambda: np.take(source, [3, 0], out=copy)])
    message = PackedMessage('step_ok', layout)
    source[3], source[0] = states
    assert codec.unpack(message.pack(0.0, 0, 0))['x'] == states == layout.numbers()['x']
