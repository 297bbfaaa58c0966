# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The stream over real sockets: subscriptions, lag, reconnects, threads, malformed messages."""

import threading
import time

import pytest
from xpub import Publisher

from urlab_ros_bridge.client.errors import StreamClosed
from urlab_ros_bridge.client.state.stream import StateStream
from urlab_ros_bridge.wire.encoding.codec import pack
from urlab_ros_bridge.wire.rows import pack_joint
from urlab_ros_bridge.wire.rows import pack_sim_time


class StatePublisher(Publisher):
    """Sends ticks."""

    def tick(self, step, snapshot=False, closing=True):
        self.send(b'rover/joint/left', pack_joint(1, step, 0, 0))
        if snapshot:
            state = {'time': step * 0.002, 'step': step, 'per_articulation': {}}
            self.send(b'state/full', pack({'op': 'state_full', **state}))
        if closing:
            self.send(b'sim_time', pack_sim_time(step * 2_000_000, step, 7))


@pytest.fixture
def publisher(keep):
    return keep(StatePublisher())


def settle():
    """Give the I/O threads time to move what was sent."""
    time.sleep(0.15)


@pytest.mark.parametrize(('backlog', 'expected'), [(1, [20]), (None, list(range(1, 21)))])
def test_a_lagging_consumer_gets_the_newest_and_the_rest_is_counted(publisher, backlog, expected):
    with StateStream(state_port=publisher.port, backlog=backlog) as stream:
        publisher.wait_for(b'')
        for step in range(1, 21):
            publisher.tick(step)
        settle()
        received = []
        while tick := stream.receive(0.05):
            received.append(tick.step)
        assert received == expected
        assert stream.stats.dropped_ticks == 20 - len(expected)


def test_only_requested_topics_are_subscribed(publisher):
    with StateStream(state_port=publisher.port, topics=['rover/']) as stream:
        publisher.wait_for(b'sim_time', b'rover/')
        assert publisher.topics == {b'sim_time', b'rover/'}
        stream.subscribe('scene/')
        publisher.wait_for(b'scene/')
        stream.unsubscribe(b'rover/')
        publisher.wait_for(gone=[b'rover/'])


def test_the_snapshot_is_subscribed_if_nothing_else_closes_ticks(publisher):
    with StateStream(state_port=publisher.port, topics=['rover/']) as stream:
        publisher.wait_for(b'sim_time', b'rover/')
        for step in (1, 2):
            publisher.tick(step, closing=False)
        tick = stream.receive(20)
        assert tick.closed_by == 'wall' and abs(tick.stamp_ns - time.time_ns()) < 5e9
        publisher.wait_for(b'state/full')
        for step in (3, 4):
            publisher.tick(step, snapshot=True, closing=False)
        settle()
        assert stream.receive(20).stamp_ns == 8_000_000
        assert stream.closed_by == 'state_full'


def test_a_broken_snapshot_is_counted_and_skipped(publisher):
    with StateStream(state_port=publisher.port, closing='state_full') as stream:
        publisher.wait_for(b'')
        for payload in (b'\xc1', pack({'step': 1}), pack({'time': float('nan'), 'step': 1})):
            publisher.send(b'state/full', payload)
            settle()
            assert stream.receive(0) is None
        publisher.tick(5, snapshot=True, closing=False)
        assert stream.receive(20).step == 5
        assert stream.stats.decode_errors == 3


def test_wake_ends_a_waiting_receive_once(publisher):
    with StateStream(state_port=publisher.port) as stream:
        threading.Timer(0.1, stream.wake).start()
        assert stream.receive(60.0) is None
        started, used = time.monotonic(), time.thread_time()
        assert stream.receive(1.0) is None and time.monotonic() - started >= 1.0
        assert time.thread_time() - used < 0.5  # it sleeps
    stream.wake()  # of a closed stream: nothing


def test_close_wakes_a_waiting_receive_and_ends_the_stream(publisher):
    stream = StateStream(state_port=publisher.port)
    threading.Timer(0.1, stream.close).start()
    for _ in range(2):
        with pytest.raises(StreamClosed):
            stream.receive(60.0)
    stream.subscribe('late/')  # harmless
