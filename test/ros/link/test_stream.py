# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What comes before what when simulation time jumps back."""

import itertools
import queue
import threading
from types import SimpleNamespace

from bridge_harness import PATIENCE
from bridge_harness import wait_until
import pytest

from urlab_ros_bridge.client.replies.observations import Snapshot
from urlab_ros_bridge.client.replies.observations import StepResult
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

    closed_by = 'sim_time'
    muted = False

    def put(self, stamp_ns, resets=None):
        state = None if resets is None else Snapshot(snapshot(stamp_ns, resets))
        rows = [(b'row', b'')] if resets is None else []
        self.ticks.put(Tick(stamp_ns, 0, None, rows, None, 'sim_time', _state=state))

    def receive(self, timeout):
        self.readers.append(threading.get_ident())
        try:
            return self.ticks.get(timeout=timeout) if timeout else self.ticks.get_nowait()
        except queue.Empty:
            return None

    def close(self):
        pass

    subscribe = unsubscribe = lambda self, topic: None

    def mute(self, mute):
        self.muted = mute


@pytest.fixture
def stepped(monkeypatch):
    """A running stream of a bridge that steps, its source, and who published what."""
    source, published = Source(), []
    monkeypatch.setattr(module, 'StateStream', lambda *_, **__: source)
    # On a busy machine the stream's own thread may lose the processor in its turn.
    monkeypatch.setattr(module, '_TURN_SECONDS', 30.0)
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


def snapshot(stamp_ns, resets=0, **more):
    return {'op': 'step_ok', 'time': stamp_ns * 1e-9, 'step': 0, 'resets': resets, **more}


def reply(stamp_ns, resets=0):
    return StepResult(snapshot(stamp_ns, resets))


def lent(stream):
    """Have the stream's own thread leave its turn to who steps."""
    stream.publish_reply(reply(stream.timeline.stamp_ns))
    with stream._turn:  # what it was waiting for is over
        return True


def test_who_steps_publishes_what_the_reply_shows_and_its_tick_is_passed_over(stepped):
    stream, source, published = stepped
    source.put(1, resets=0)
    wait_until(lambda: stream.timeline.stamp_ns == 1)
    me = threading.get_ident()
    assert lent(stream)
    for stamp_ns in range(2, 300):
        assert stream.publish_reply(reply(stamp_ns))
        assert stream.timeline.stamp_ns == stamp_ns
        if stamp_ns % 7:  # the stream is not mute yet
            source.put(stamp_ns, resets=0)
    assert published[1:] == [(stamp_ns, me) for stamp_ns in range(2, 300)]
    # Nobody steps: another client does, and later sets the time back.
    source.put(500, resets=0)
    wait_until(lambda: stream.timeline.stamp_ns == 500)
    epoch = stream.timeline.epoch
    source.put(3, resets=1)
    wait_until(lambda: stream.timeline.stamp_ns == 3)
    assert stream.timeline.epoch == epoch + 1
    assert [stamp_ns for stamp_ns, _ in published[-2:]] == [500, 3]


def test_a_reply_is_published_where_time_simply_goes_on_and_nowhere_else(stepped):
    stream, source, published = stepped
    # Nothing is known yet, so the first tick may as well be of another epoch.
    assert not stream.publish_reply(reply(5))
    source.put(5, resets=2)
    wait_until(lambda: stream.timeline.stamp_ns == 5)
    assert lent(stream)
    assert not stream.publish_reply(reply(5, 2))  # the same instant
    assert not stream.publish_reply(reply(4, 2))  # time went back
    assert not stream.publish_reply(reply(6, 3))  # a reset in between, whose tick is on its way
    assert not stream.publish_reply(StepResult({'time': 6e-9, 'step': 0}))  # a level without it
    assert not stream.publish_reply(StepResult(snapshot(6, 2, time=float('nan'))))
    stream.hand_over(None)  # another server
    assert not stream.publish_reply(reply(6, 2))
    source.put(6, resets=2)
    wait_until(lambda: stream.timeline.stamp_ns == 6)
    assert lent(stream) and stream.publish_reply(reply(7, 2))
    assert [stamp_ns for stamp_ns, _ in published] == [5, 6, 7]


def test_a_state_that_the_server_repeats_is_not_taken_for_a_jump_back(stepped):
    """The server repeats the last state while nobody steps; the next step's reply overtakes it."""
    stream, source, published = stepped
    source.put(1, resets=0)
    wait_until(lambda: stream.timeline.stamp_ns == 1)
    assert lent(stream)
    for stamp_ns in range(2, 30):
        with stream._turn:  # both come after the reply
            source.put(stamp_ns - 1, resets=0)
            source.put(stamp_ns - 1, resets=0)
        assert stream.publish_reply(reply(stamp_ns))
    wait_until(source.ticks.empty)
    assert [stamp_ns for stamp_ns, _ in published] == [*range(1, 30)]
    assert stream.timeline.epoch == 1
    # A reset is one, whose time may have been there before, and a server that was started again.
    source.put(7, resets=1)
    wait_until(lambda: stream.timeline.stamp_ns == 7)
    stream.hand_over(None)
    source.put(3, resets=1)
    wait_until(lambda: stream.timeline.stamp_ns == 3)
    assert stream.timeline.epoch == 3


def test_the_first_tick_of_another_world_begins_the_epoch(stepped):
    stream, source, _ = stepped
    source.put(1, resets=0)
    wait_until(lambda: stream.timeline.stamp_ns == 1)
    shown = []

    def show(name):
        return lambda _, stamp_ns, every: (
            shown.append((name, stamp_ns, stream.timeline.epoch)) or 1
        )

    another = SimpleNamespace(**vars(stream.world), apply=lambda settings: None)
    stream.world.publish, another.publish = show('before'), show('another')
    stream.world.close = lambda successor: None
    receive, asked = source.receive, threading.Event()

    def receive_late(timeout):
        asked.set()
        tick = receive(timeout)
        if tick is not None and tick.stamp_ns == 2:
            stream.hand_over(another)  # this tick is on its way to the world before
        return tick

    source.receive = receive_late
    assert asked.wait(PATIENCE)
    for stamp_ns in (2, 3, 4):
        source.put(stamp_ns, resets=0)
    wait_until(lambda: stream.timeline.stamp_ns == 4)
    assert shown == [('before', 2, 1), ('another', 3, 2), ('another', 4, 2)]


def test_the_stream_is_mute_while_replies_bring_everything(stepped):
    stream, source, _ = stepped
    source.put(1, resets=0)
    wait_until(lambda: stream.timeline.stamp_ns == 1)
    assert lent(stream) and not source.muted
    stamps = itertools.count(2)

    def mute():
        assert stream.publish_reply(reply(next(stamps)))
        return source.muted

    wait_until(mute)
    wait_until(lambda: not source.muted)  # nobody steps
    wait_until(mute)
    stream.listen()  # for what a request changes, which is in no reply to a step
    wait_until(lambda: not source.muted)
    wait_until(mute)
    assert not stream.publish_reply(reply(next(stamps), resets=1))  # another client has reset
    wait_until(lambda: not source.muted)


def test_what_is_to_be_done_between_two_ticks_is_done_while_another_thread_publishes(stepped):
    stream, source, published = stepped
    done, end = [], threading.Event()
    source.put(1, resets=0)
    wait_until(lambda: stream.timeline.stamp_ns == 1)

    def step():
        for stamp_ns in range(2, 100_000):
            while not end.is_set() and not stream.publish_reply(reply(stamp_ns)):
                pass
            if end.is_set():
                return
            source.put(stamp_ns, resets=0)

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


def test_the_count_of_resets_is_known_where_a_command_answers_one_state(stepped):
    stream, source, _ = stepped
    source.put(7, resets=7)
    wait_until(lambda: stream.timeline.stamp_ns == 7)
    assert stream.timeline.resets == 7


@pytest.mark.filterwarnings('ignore::pytest.PytestUnhandledThreadExceptionWarning')
def test_a_bridge_that_cannot_publish_any_more_says_so_and_ends(stepped):
    stream, source, _ = stepped
    failures = []
    stream._fail = failures.append

    def broken(*_):
        raise TypeError('no such thing')

    stream.world.publish = broken
    source.put(1, resets=0)
    wait_until(lambda: failures)
    assert str(failures[0]) == 'nothing can be published: TypeError: no such thing'
