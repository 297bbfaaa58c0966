# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What comes before what when simulation time jumps back."""

import queue
import threading
from types import SimpleNamespace

from bridge_harness import PATIENCE
from bridge_harness import wait_until
import pytest

from urlab_ros_bridge.client.replies.observations import Snapshot
from urlab_ros_bridge.client.state.tick import Tick
from urlab_ros_bridge.ros.features.stream_tasks import StreamTasks
from urlab_ros_bridge.ros.features.timeline import Timeline
from urlab_ros_bridge.ros.link import stream as module
from urlab_ros_bridge.ros.program.features import Settings


def bridge(settings):
    """Return a bridge without features."""
    return SimpleNamespace(
        timeline=Timeline(),
        stream_tasks=(tasks := StreamTasks()),
        run_in_stream=tasks.put,
        all_settings=lambda: settings,
        settings=settings,
        extra_subscriptions=set,
        tick=lambda stamp_ns: None,
        jump=lambda stamp_ns, went_back: None,
        every_second=lambda now: None,
        fail=lambda error: None,
    )


class Source:
    """A state stream that hands out the ticks that a test puts in."""

    def __init__(self):
        self.ticks = queue.SimpleQueue()
        self.readers = []

    closed_by = 'sim_time'

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

    wake = close
    subscribe = unsubscribe = lambda self, topic: None


@pytest.fixture
def stepped(monkeypatch):
    """Yield a stream of a bridge that steps, its source, and (time, thread) of publications."""
    source, published = Source(), []
    monkeypatch.setattr(module, 'StateStream', lambda *_, **__: source)
    clock = SimpleNamespace(
        tick=lambda *_: True,
        publish_held_back=lambda: None,
        poll_subscribers=lambda: None,
        count=0,
    )
    world = SimpleNamespace(
        clear=lambda: None,
        publish=lambda tick, stamp_ns, every: (
            published.append((stamp_ns, threading.get_ident())) or 1
        ),
        update=lambda tick, stamp_ns: None,
        publish_changes=lambda stamp_ns: 0,
        publish_latched=lambda: None,
        poll_subscribers=lambda: None,
        subscriptions=set,
    )
    settings = Settings(jump_settle_time=0.0)
    stream = module.StreamThread(bridge(settings), clock)
    stream.world, stream.in_lockstep = world, True
    stream.all_started()
    yield stream, source, published
    stream.stop()


def snapshot(stamp_ns, resets=0, **more):
    return {'op': 'step_ok', 'time': stamp_ns * 1e-9, 'step': 0, 'resets': resets, **more}


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
            stream.begin_world(another)  # this tick is on its way to the world before
        return tick

    source.receive = receive_late
    assert asked.wait(PATIENCE)
    for stamp_ns in (2, 3, 4):
        source.put(stamp_ns, resets=0)
    wait_until(lambda: stream.timeline.stamp_ns == 4)
    assert shown == [('before', 2, 1), ('another', 3, 2), ('another', 4, 2)]


@pytest.mark.filterwarnings('ignore::pytest.PytestUnhandledThreadExceptionWarning')
def test_an_unexpected_error_of_the_stream_ends_the_bridge_with_its_reason(stepped):
    stream, source, _ = stepped
    failures = []
    stream._bridge.fail = failures.append

    def broken(*_):
        raise TypeError('no such thing')

    stream.world.publish = broken
    source.put(1, resets=0)
    wait_until(lambda: failures)
    assert str(failures[0]) == 'nothing can be published: TypeError: no such thing'
