# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The short cut for requests that repeat: it must never mean anything else than the long way."""

import math

import dispatching
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

LONGEST_VECTOR = 20
# So that no vector of them is longer than one number may be: then each is looked at by itself.
usable = st.floats(-MAX_MAGNITUDE / LONGEST_VECTOR, MAX_MAGNITUDE / LONGEST_VECTOR)


def request_of(blocks, **more):
    return {'op': 'step', 'session_id': 'x' * 36, 'per_articulation': blocks, **more}


def step(*vectors, **more):
    blocks = {f'r{i}': {'ctrl': list(vector)} for i, vector in enumerate(vectors)}
    return request_of(blocks, **more)


def frame(*vectors, **more):
    return codec.pack(step(*vectors, **more))


@st.composite
def vectors_of(draw, size=None):
    size = size or draw(st.integers(1, LONGEST_VECTOR))
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


@pytest.mark.parametrize('value', [math.nan, math.inf, -math.inf, -2e10])
@pytest.mark.parametrize('beside', [-1.0, math.nan, math.inf])
def test_numbers_that_may_have_to_be_refused_take_the_long_way(value, beside):
    shape = shape_of(frame([1.0, 2.0]), step([1.0, 2.0]))
    for vector in ([beside, value], [value, beside]):
        assert shape.read(frame(vector)) is None


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
@pytest.mark.parametrize('most', [math.inf, -1.0])
def test_repeated_steps_equal_steps_that_never_repeat(rig, mode, most, monkeypatch):
    monkeypatch.setattr(dispatching, 'MOST', most)
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


def repeating(rig):
    """Return a dispatcher, and a frame that repeats an earlier one."""
    request = {
        'op': 'step',
        'session_id': rig.caller().session_id,
        'per_articulation': {'rover': {'ctrl': [0.5] * 4}},
    }
    for number in range(4):
        rig.context.engine.seconds_per_step = 1e-4
        request['per_articulation']['rover']['ctrl'][0] = float(number)
        frame = codec.pack(request)
        dispatching.dispatch(rig.dispatcher, frame)
    return rig.dispatcher, frame


def test_the_short_way_is_for_calls_that_can_run_at_once(rover):
    dispatcher, frame = repeating(rover)
    engine = rover.context.engine
    steps = engine.steps
    with engine.lock:
        assert dispatcher.repeat(frame, math.inf) is None
    engine.seconds_per_step = 1e-3
    assert dispatcher.repeat(frame, 1e-4) is None
    assert dispatcher.repeat(frame + b' ', math.inf) is None
    assert engine.steps == steps
    reply = codec.unpack(dispatcher.repeat(frame, math.inf))
    assert reply['op'] == 'step_ok' and engine.steps == steps + 1
    assert not engine.lock.contended and engine.lock.acquire(0.0)
    engine.lock.release()


def test_an_ended_session_is_not_served_on_the_short_way(rover):
    dispatcher, frame = repeating(rover)
    rover.caller()
    assert dispatcher.repeat(frame, math.inf) is None
    assert codec.unpack(dispatching.dispatch(dispatcher, frame))['code'] == 'session_expired'


def test_what_breaks_on_the_short_way_is_answered_and_frees_the_model(rover, monkeypatch):
    dispatcher, frame = repeating(rover)
    engine = rover.context.engine
    monkeypatch.setattr(engine, 'substep', lambda raw: 1 / 0)
    assert codec.unpack(dispatcher.repeat(frame, math.inf))['code'] == 'internal_error'
    monkeypatch.undo()
    engine.draining = True
    assert codec.unpack(dispatcher.repeat(frame, math.inf))['code'] == 'shutting_down'
    engine.draining = False
    assert codec.unpack(dispatcher.repeat(frame, math.inf))['op'] == 'step_ok'


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
