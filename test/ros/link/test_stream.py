# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What comes before what when simulation time jumps back."""

import queue
import threading
from types import SimpleNamespace

from bridge_harness import wait_until
import pytest

from urlab_ros_bridge.client.state.tick import Tick
from urlab_ros_bridge.ros.features.timeline import Timeline
from urlab_ros_bridge.ros.link import stream as module

pytestmark = pytest.mark.ros


class Recorded:
    """A bridge stream without sockets, that writes down what it does."""

    def __init__(self, monkeypatch, settle):
        self.events = events = []
        clocks = SimpleNamespace(
            sleep=lambda seconds: events.append(('silence', seconds)),
            monotonic=lambda: 0.0,
            monotonic_ns=lambda: 0,
            time_ns=lambda: 0,
        )
        monkeypatch.setattr(module, 'time', clocks)
        monkeypatch.setattr(
            module, 'StateStream', lambda *_, **__: SimpleNamespace(close=lambda: None)
        )

        def tick(stamp_ns, now_ns, always):
            events.append(('clock', stamp_ns))
            return True

        clock = SimpleNamespace(tick=tick, rest=lambda: None, count=0)
        world = SimpleNamespace(
            clear=lambda: None,
            publish=lambda tick, stamp_ns, every: events.append(('data', stamp_ns)) or 1,
        )
        settings = SimpleNamespace(
            jump_settle_time=settle, host='', state_port=0, stream='auto', keys='', rpc_port=0
        )
        self.stream = module.StreamThread(settings, clock, Timeline())
        self.stream.world = world

    def take(self, stamp_ns):
        self.events.clear()
        self.stream._publish(SimpleNamespace(rows={}, wall_ns=None), stamp_ns)
        return self.events.copy()


def test_a_jump_back_is_told_between_two_silences(monkeypatch):
    recorded = Recorded(monkeypatch, 0.05)
    assert recorded.take(5) == [('clock', 5), ('data', 5)]
    assert recorded.take(7) == [('clock', 7), ('data', 7)]
    silence = ('silence', 0.05)
    assert recorded.take(1) == [silence, ('clock', 1), silence, ('data', 1)]
    assert recorded.take(2) == [('clock', 2), ('data', 2)]


class Source:
    """A state stream that hands out the ticks that a test puts in."""

    def __init__(self):
        self.ticks = queue.SimpleQueue()
        self.readers = []

    def put(self, stamp_ns):
        self.ticks.put(Tick(stamp_ns, 0, None, [(b'row', b'')], None, 'sim_time'))

    def receive(self, timeout):
        self.readers.append(threading.get_ident())
        try:
            return self.ticks.get(timeout=timeout) if timeout else self.ticks.get_nowait()
        except queue.Empty:
            return None

    def close(self):
        pass

    subscribe = unsubscribe = lambda self, topic: None


@pytest.fixture
def stepped(monkeypatch):
    """A running stream of a bridge that steps, its source, and who published what."""
    source, published = Source(), []
    monkeypatch.setattr(module, 'StateStream', lambda *_, **__: source)
    clock = SimpleNamespace(
        tick=lambda *_: True, rest=lambda: None, poll_subscribers=lambda: None, count=0
    )
    world = SimpleNamespace(
        clear=lambda: None,
        publish=lambda tick, stamp_ns, every: (
            published.append((stamp_ns, threading.get_ident())) or 1
        ),
        publish_again=lambda *_: 0,
        rest=lambda stamp_ns: 0,
        poll_subscribers=lambda: None,
        subscriptions=set,
    )
    settings = SimpleNamespace(
        jump_settle_time=0.0, host='', state_port=0, stream='auto', keys='', rpc_port=0
    )
    stream = module.StreamThread(settings, clock, Timeline())
    stream.world, stream.stepped = world, True
    stream.start()
    yield stream, source, published
    stream.stop()


def test_who_steps_publishes_its_ticks_by_itself_and_what_others_do_comes_all_the_same(stepped):
    stream, source, published = stepped
    me, mark = threading.get_ident(), stream.timeline.mark
    assert not stream.publish_until(1, mark(), 0.0)  # from now on the stream is read here
    for stamp_ns in range(1, 200):
        before = mark()
        source.put(stamp_ns)
        assert stream.publish_until(stamp_ns, before, 10.0)
    assert [stamp_ns for stamp_ns, _ in published] == [*range(1, 200)]
    # Its own thread looks now and then, and may be the one that finds a tick.
    assert sum(thread == me for _, thread in published) > 100
    # Nobody steps: another client does, and later one sets the time back.
    source.put(500)
    wait_until(lambda: stream.timeline.stamp_ns == 500)
    before = mark()
    source.put(3)
    assert stream.publish_until(501, before, 10.0)  # there is nothing to wait for any more
    assert stream.timeline.stamp_ns == 3 and published[-1][0] == 3
    assert not stream.publish_until(4, mark(), 0.01)


def test_what_is_to_be_done_between_two_ticks_is_done_while_another_thread_publishes(stepped):
    stream, source, published = stepped
    done, end = [], threading.Event()

    def step():
        for stamp_ns in range(1, 100_000):
            before = stream.timeline.mark()
            source.put(stamp_ns)
            if end.is_set() or not stream.publish_until(stamp_ns, before, 10.0):
                return

    stepper = threading.Thread(target=step)
    stepper.start()
    wait_until(lambda: len(published) > 20)
    for number in range(5):
        assert stream.between_ticks(lambda n=number: done.append((n, len(published))))
    seen = len(published)
    wait_until(lambda: len(published) > seen)
    end.set()
    stepper.join(10.0)
    assert [number for number, _ in done] == [*range(5)]
    assert [stamp_ns for stamp_ns, _ in published] == [*range(1, len(published) + 1)]


def test_the_count_of_resets_is_known_where_a_command_answers_one_state(stepped, monkeypatch):
    stream, source, _ = stepped
    monkeypatch.setattr(Tick, 'state', lambda tick: SimpleNamespace(resets=tick.stamp_ns, raw={}))
    before = stream.timeline.mark()
    source.put(7)
    assert stream.publish_until(7, before, 10.0)
    assert stream.timeline.resets == 7
