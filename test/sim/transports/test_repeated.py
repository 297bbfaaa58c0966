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
from urlab_ros_bridge.sim.transports.repeated import MAX_SHAPES
from urlab_ros_bridge.sim.transports.repeated import RepeatedRequests
from urlab_ros_bridge.sim.transports.repeated import shape_of
from urlab_ros_bridge.wire.encoding import codec

usable = st.floats(-MAX_MAGNITUDE, MAX_MAGNITUDE)


def step(*vectors, **more):
    blocks = {f'r{i}': {'ctrl': list(vector)} for i, vector in enumerate(vectors)}
    return {'op': 'step', 'session_id': 'x' * 36, 'per_articulation': blocks, **more}


def frame(*vectors, **more):
    return codec.pack(step(*vectors, **more))


@st.composite
def pairs(draw):
    """Return the vectors of two requests of the same shape."""
    sizes = draw(st.lists(st.integers(1, 20), min_size=1, max_size=4))
    return [[draw(st.lists(usable, min_size=n, max_size=n)) for n in sizes] for _ in range(2)]


@given(pairs())
def test_a_shape_reads_the_numbers_of_any_frame_like_it(two):
    first, second = two
    shape = shape_of(frame(*first), step(*first))
    assert shape.read(frame(*first)) == [tuple(vector) for vector in first]
    assert shape.read(frame(*second)) == [tuple(vector) for vector in second]


@given(pairs(), st.data())
def test_a_frame_with_any_other_byte_changed_is_another_shape(two, data):
    first, _ = two
    original = frame(*first)
    shape = shape_of(original, step(*first))
    place = data.draw(st.integers(0, len(original) - 1))
    changed = bytearray(original)
    changed[place] ^= data.draw(st.integers(1, 255))
    vectors = shape.read(bytes(changed))
    if vectors is not None:
        # Then the byte was one of a number, and the number is what the decoder reads.
        request = codec.unpack(bytes(changed))
        blocks = request['per_articulation'].values()
        assert vectors == [tuple(block['ctrl']) for block in blocks]
        assert step(*vectors) == {
            **request,
            'per_articulation': step(*vectors)['per_articulation'],
        }


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
        {**step(), 'per_articulation': {'a': {'control_mode': 'raw'}}},
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
    twist = {**step(), 'per_articulation': {'a': {'twist': {'linear': [1.0, 0.0, 0.0]}}}}
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
