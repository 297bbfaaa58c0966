# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers read in place are those that the decoder finds, or they are not read."""

from hypothesis import given
from hypothesis import strategies as st
import msgpack
import numpy as np
import pytest

from urlab_ros_bridge.gateways.virtual_field.scene.packed_state import PackedState
from urlab_ros_bridge.wire.encoding.codec import unpack
from urlab_ros_bridge.wire.errors import WireError

WIDE = 1 << 40  # such integers are packed with eight bytes
NUMBERS = st.floats(width=64)
TREES = st.recursive(
    st.one_of(
        st.lists(NUMBERS, max_size=20),
        st.integers(WIDE, 2**63),
        st.text(max_size=40),
        st.none(),
        st.booleans(),
    ),
    lambda inner: st.dictionaries(st.text(max_size=5), inner, max_size=20),
    max_leaves=20,
)


def message(tree, time=0.5, step=WIDE):
    return {'time': time, 'step': step, 'tree': tree}


def paths(tree, path=('tree',)):
    """Yield the paths of all floats."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from paths(value, (*path, key))
    elif isinstance(tree, list):
        yield from ((*path, index) for index in range(len(tree)))


def at(decoded, path):
    for part in path:
        decoded = decoded[part]
    return decoded


def renewed(tree, numbers):
    """Return the same tree with other numbers."""
    if isinstance(tree, dict):
        return {key: renewed(value, numbers) for key, value in tree.items()}
    if isinstance(tree, list):
        return [next(numbers) for _ in tree]
    if type(tree) is int:
        return WIDE + (tree * 7) % WIDE
    return tree


@given(TREES, st.randoms(use_true_random=False), NUMBERS, st.integers(WIDE, 2**62))
def test_of_the_same_shape_all_numbers_are_read(tree, chance, time, step):
    wanted = list(paths(tree))
    chance.shuffle(wanted)
    packed = PackedState(msgpack.packb(message(tree)), wanted)
    other = renewed(tree, iter(lambda: chance.uniform(-1e9, 1e9), None))
    snapshot = msgpack.packb(message(other, time, step))
    seconds, count, numbers = packed.read(snapshot)
    np.testing.assert_equal([seconds, count], [time, step])
    np.testing.assert_array_equal(numbers, [at(message(other), path) for path in wanted])


@given(TREES, st.data())
def test_any_bytes_are_read_as_the_decoder_does_or_left_to_it(tree, data):
    wanted = list(paths(tree))
    snapshot = bytearray(msgpack.packb(message(tree)))
    packed = PackedState(bytes(snapshot), wanted)
    for _ in range(data.draw(st.integers(1, 3))):
        snapshot[data.draw(st.integers(0, len(snapshot) - 1))] = data.draw(st.integers(0, 255))
    found = packed.read(bytes(snapshot))
    if found is None:
        return
    try:
        decoded = unpack(bytes(snapshot))
    except WireError:
        pytest.fail('numbers were read that the decoder refuses')
    np.testing.assert_equal(found[0], decoded['time'])
    np.testing.assert_array_equal(found[2], [at(decoded, path) for path in wanted])


@pytest.mark.parametrize(
    'snapshot',
    [
        b'',
        b'\xdf\xff\xff\xff\xff',
        b'\xdb\xff\xff\xff\xff',
        b'\x81' * 5000,
        b'\x91' * 5000,
        msgpack.packb({'time': 0.5, 'step': 3, 'tree': [1.0]}),
        msgpack.packb({'time': 0.5, 'step': WIDE, 'tree': [1]}),
        msgpack.packb({'time': 0.5, 'step': WIDE, 'tree': b'bytes'}),
        msgpack.packb({'time': 0.5, 'tree': [1.0]}),
    ],
)
def test_what_has_not_such_a_shape_is_never_read(snapshot):
    assert PackedState(snapshot, [('tree', 0)]).read(snapshot) is None


@given(st.binary(max_size=200))
def test_any_bytes_can_be_learned_from(snapshot):
    assert PackedState(snapshot, [('tree', 0)]).read(snapshot) is None
