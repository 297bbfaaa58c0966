# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The short cut for requests that repeat: it must never mean anything else than the long way."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from urlab_ros_bridge.sim.requests.fields import MAX_MAGNITUDE
from urlab_ros_bridge.sim.requests.setpoints import setpoints
from urlab_ros_bridge.sim.requests.setpoints import with_setpoints
from urlab_ros_bridge.sim.transports.repeated import MAX_SHAPES
from urlab_ros_bridge.sim.transports.repeated import RepeatedRequests
from urlab_ros_bridge.sim.transports.repeated import shape_of
from urlab_ros_bridge.wire.encoding import codec

usable = st.floats(-MAX_MAGNITUDE, MAX_MAGNITUDE)


def request_of(blocks, **more):
    return {'op': 'step', 'session_id': 'x' * 36, 'per_articulation': blocks, **more}


def step(*vectors, **more):
    blocks = {f'r{i}': {'ctrl': list(vector)} for i, vector in enumerate(vectors)}
    return request_of(blocks, **more)


def frame(*vectors, **more):
    return codec.pack(step(*vectors, **more))


@st.composite
def vectors_of(draw, size=None):
    size = size or draw(st.integers(1, 20))
    return draw(st.lists(usable, min_size=size, max_size=size))


@st.composite
def blocks(draw):
    """Return what a request may say of articulations, in any order."""
    found = {}
    for index in range(draw(st.integers(1, 4))):
        twist = {'linear': draw(vectors_of()), 'angular': draw(vectors_of())}
        twist |= draw(st.sampled_from([{}, {'timeout': 0.5}, {'resets': 3, 'timeout': 1}]))
        block = {'ctrl': draw(vectors_of()), 'twist': shuffled(draw, twist)}
        for name in draw(st.sampled_from([(), ('ctrl',), ('twist',)])):
            del block[name]
        found[f'r{index}'] = shuffled(draw, block)
    return found


def shuffled(draw, items):
    return dict(draw(st.permutations(list(items.items()))))


@given(blocks(), st.data())
def test_a_shape_reads_the_numbers_of_any_frame_like_it(first, data):
    shape = shape_of(codec.pack(request_of(first)), request_of(first))
    sizes = [len(vector) for _, _, vector in setpoints(first)]
    others = [tuple(data.draw(vectors_of(size))) for size in sizes]
    second = with_setpoints(first, others)
    for each in (first, second):
        vectors = [tuple(vector) for _, _, vector in setpoints(each)]
        assert shape.read(codec.pack(request_of(each))) == vectors
    assert vectors == others


@given(blocks(), st.data())
def test_a_frame_with_any_other_byte_changed_is_another_shape(first, data):
    original = codec.pack(request_of(first))
    shape = shape_of(original, request_of(first))
    place = data.draw(st.integers(0, len(original) - 1))
    changed = bytearray(original)
    changed[place] ^= data.draw(st.integers(1, 255))
    vectors = shape.read(bytes(changed))
    if vectors is not None:
        # Then the byte was one of a number, and the number is what the decoder reads.
        request = codec.unpack(bytes(changed))
        found = request['per_articulation']
        assert vectors == [tuple(vector) for _, _, vector in setpoints(found)]
        assert request == request_of(with_setpoints(first, vectors))


@pytest.mark.parametrize('value', [float('nan'), float('inf'), -2e10])
def test_numbers_that_must_be_refused_take_the_long_way(value):
    shape = shape_of(frame([1.0, 2.0]), step([1.0, 2.0]))
    assert shape.read(frame([1.0, value])) is None


@pytest.mark.parametrize(
    'request_',
    [
        step(),
        step([1.0], include_cameras=True),
        step([1.0], qpos=[1.0]),
        step([1, 2.0]),
        step([]),
        {**step(), 'per_articulation': {'a': {'ctrl': [1.0], 'ctrl_map': {}}}},
        request_of({'a': {'control_mode': 'raw'}}),
        request_of({'a': {'twist': {'linear': [1.0]}}}),
        request_of({'a': {'twist': {'linear': [1.0], 'angular': None}}}),
        request_of({'a': {'twist': None, 'ctrl': [1.0]}}),
        request_of({'a': {'twist': {'linear': [1.0], 'angular': [1.0], 'wall_timeout': 1.0}}}),
    ],
)
def test_requests_that_say_more_have_no_shape(request_):
    assert shape_of(codec.pack(request_), request_) is None


def test_a_frame_that_another_packer_made_differently_has_no_shape():
    request = step([1.0])
    wide = codec.pack(request).replace(b'\xa2op', b'\xd9\x02op')
    assert codec.unpack(wide) == request
    assert shape_of(wide, request) is None


def test_memory_is_bounded_and_a_client_that_never_repeats_is_left_alone():
    repeated, learned = RepeatedRequests(), 0
    twist = request_of({'a': {'twist': {'linear': [1.0, 0.0, 0.0]}}})
    for _ in range(3000):  # a client whose requests have no shape takes nothing from others
        assert not repeated.worth_learning(codec.pack(twist), twist)
    for number in range(3000):
        request = step([1.0], n_steps=1000 + number)
        packed = codec.pack(request)
        if repeated.worth_learning(packed, request):
            repeated.remember(packed, request, number)
            learned += 1
        kept = sum(len(shapes) for shapes in repeated._shapes.values())
        assert kept <= MAX_SHAPES
    assert learned == 1000


@pytest.mark.parametrize('mode', ['direct', 'live'])
def test_repeated_steps_equal_steps_that_never_repeat(rig, mode):
    random = np.random.default_rng(5)
    ordinary, quick = rig(world='quadruped'), rig(world='quadruped')
    for made in (ordinary, quick):
        made.ask('set_mode', mode=mode)
    for turn in range(40):
        ctrl = random.normal(size=12).tolist()
        quick.ask('set_mode', mode=mode)
        block = {'ctrl': ctrl, 'control_mode': 'raw' if turn < 20 else 'ue_controller'}
        first = quick.ask('step', n_steps=2, per_articulation={'quadruped': block})
        second = ordinary.ask(
            'step', n_steps=2, per_articulation={'quadruped': {**block, 'xfrc_applied': {}}}
        )
        for reply in (first, second):
            del reply['wall_time']
        assert first == second


@pytest.mark.parametrize('mode', ['direct', 'live'])
def test_repeated_twists_equal_twists_that_never_repeat(rig, mode):
    ordinary, quick = rig(world='rover'), rig(world='rover')
    for turn in range(40):
        twist = {'linear': [0.1 + 0.01 * turn, 0.0, 0.0], 'angular': [0.0, 0.0, -0.02 * turn]}
        block = {'rover': {'twist': {**twist, 'timeout': 0.01 if turn < 30 else 0.5}}}
        replies = []
        for made, more in ((quick, {}), (ordinary, {'xfrc_applied': {}})):
            made.ask('set_mode', mode=mode)
            replies.append(
                made.ask('step', n_steps=3, per_articulation={'rover': block['rover'] | more})
            )
            del replies[-1]['wall_time']
        assert replies[0] == replies[1]
    assert mode == 'live' or replies[0]['per_articulation']['rover']['twist']['linear'][0] > 0


def test_a_repeated_twist_that_was_chosen_before_a_reset_is_refused(rover):
    def blocks(speed, resets):
        twist = {'linear': [speed, 0.0, 0.0], 'angular': [0.0] * 3, 'resets': resets}
        return {'rover': {'twist': twist}}

    rover.ask('set_mode', mode='direct')
    for _ in range(4):
        rover.ask('step', per_articulation=blocks(0.5, 0))
    rover.ask('reset')
    assert rover.code('step', per_articulation=blocks(0.5, 0)) == 'stale_command'
    assert rover.data.time == 0.0
    rover.ask('step', per_articulation=blocks(0.0, 0))  # one that stops is never too old
    for _ in range(4):
        rover.ask('step', per_articulation=blocks(0.5, 1))
    assert rover.ask('step', per_articulation=blocks(0.5, 1))['step'] == 6


def test_a_shape_does_not_outlive_its_session_mode_or_pause(rover):
    block = {'rover': {'ctrl': [1.0] * len(rover.context.engine.controls['rover'].slots['zmq'])}}
    caller = rover.caller()
    for _ in range(4):
        caller.ask('step', per_articulation=block)
    assert caller.ask('step', per_articulation=block)['step'] == 5
    rover.caller()
    assert caller.code('step', per_articulation=block) == 'session_expired'
    again = rover.caller()
    for _ in range(4):
        again.ask('step', per_articulation=block)
    rover.ask('set_mode', mode='puppet')
    before = rover.data.time
    again.ask('step', per_articulation=block)
    assert rover.data.time == before
