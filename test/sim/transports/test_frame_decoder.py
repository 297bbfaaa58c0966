# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Large frames are read a little at a time, each in its turn, and not too many."""

import threading

import pytest

from urlab_ros_bridge.sim.transports import frame_decoder
from urlab_ros_bridge.sim.transports.dispatcher import FrameDecoding
from urlab_ros_bridge.sim.transports.frame_decoder import FrameDecoder
from urlab_ros_bridge.wire.encoding import codec


class Dispatching:
    """Readings here are lists of names: one step takes one off and notes it."""

    def __init__(self):
        self.order = []

    def read_on(self, reading):
        self.order.append(reading.steps.pop())
        return reading if reading.steps else b'read'


class Gate:
    """Lets the reader rest until it may go on, and counts."""

    def __init__(self):
        self.rests, self._open = [], threading.Event()

    def __call__(self, seconds):
        self.rests.append(seconds)
        assert self._open.wait(20)

    def open(self):
        self._open.set()


@pytest.fixture
def gate():
    return Gate()


@pytest.fixture
def reader(gate):
    """Return a reader that stands still after its first step until the gate opens."""
    made = FrameDecoder(Dispatching(), rest=gate)
    yield made
    gate.open()
    made.stop()


def reading(name, steps=3, size=10):
    return FrameDecoding(bytes(size), True, [name] * steps)


def code(reply):
    return codec.unpack(reply)['code']


class Answers(dict):
    """What each owner got."""

    def of(self, owner):
        self[owner] = event = threading.Event()

        def take(answer):
            self[owner] = answer
            event.set()

        return take, event


def test_frames_take_turns(reader, gate):
    answers, events = Answers(), []
    for name in 'abc':
        take, event = answers.of(name)
        events.append(event)
        assert reader.submit(name, reading(name), take) is None
    gate.open()
    assert all(event.wait(20) for event in events)
    order = reader._dispatcher.order
    # However early the first began: from then on each has as many turns as the others.
    late = order[order.index('c') :]
    assert sorted(order) == sorted('abc' * 3)
    assert all(late[:3].count(name) == 1 for name in 'abc')
    assert set(answers.values()) == {b'read'}


def test_one_client_may_have_a_few_and_others_are_not_kept_out(reader):
    for _ in range(frame_decoder.MAX_OF_ONE):
        assert reader.submit('greedy', reading('g', 1000), lambda _: None) is None
    assert code(reader.submit('greedy', reading('g'), pytest.fail)) == 'not_ready'
    assert reader.submit('modest', reading('m'), lambda _: None) is None


def test_their_number_and_their_bytes_are_limited(reader):
    half = frame_decoder.MAX_BYTES // 2
    assert reader.submit('a', reading('a', 1000, half), lambda _: None) is None
    assert reader.submit('b', reading('b', 1000, half), lambda _: None) is None
    assert code(reader.submit('c', reading('c'), pytest.fail)) == 'not_ready'


def test_so_many_and_no_more(reader):
    for number in range(frame_decoder.MAX_READINGS):
        assert reader.submit(number, reading('x', 1000), lambda _: None) is None
    assert code(reader.submit('last', reading('x'), pytest.fail)) == 'not_ready'


def test_what_is_read_makes_room(reader, gate):
    gate.open()
    for _ in range(3 * frame_decoder.MAX_OF_ONE):
        take, event = Answers().of('again')
        assert reader.submit('again', reading('x', 2, frame_decoder.MAX_BYTES), take) is None
        assert event.wait(20)
        # The job is gone before its answer is handed over.
    assert not reader._jobs and not reader._owners and reader._bytes == 0


def test_it_rests_several_times_as_long_as_it_works(monkeypatch, reader, gate):
    ticks = iter(range(1000))
    monkeypatch.setattr(frame_decoder.time, 'thread_time', lambda: float(next(ticks)))
    gate.open()
    take, event = Answers().of('x')
    reader.submit('x', reading('x', 5), take)
    assert event.wait(20)
    reader.stop()
    assert reader.steps == 5 and gate.rests == [frame_decoder.REST] * 5


def test_the_end_is_told_to_whoever_waits(reader, gate):
    answers = []
    for name in 'ab':
        reader.submit(name, reading(name, 1000), answers.append)
    stopping = threading.Thread(target=reader.stop)
    stopping.start()
    while not reader._stopping:
        pass
    gate.open()
    stopping.join(20)
    assert [code(reply) for reply in answers] == ['shutting_down'] * 2
    assert code(reader.submit('c', reading('c'), pytest.fail)) == 'shutting_down'


def test_a_transport_that_breaks_does_not_end_it(reader, gate, caplog):
    gate.open()
    reader.submit('a', reading('a'), lambda _: 1 / 0)
    take, event = Answers().of('b')
    reader.submit('b', reading('b'), take)
    assert event.wait(20) and 'ZeroDivisionError' in caplog.text
