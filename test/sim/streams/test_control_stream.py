# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The control stream: what reaches the setpoints, what is discarded, what is refused."""

import numpy as np
import pytest
import zmq

from urlab_ros_bridge.sim.simulation import StreamCounters
from urlab_ros_bridge.sim.streams.control_stream import ControlStream
from urlab_ros_bridge.sim.streams.control_stream import DRAIN_BYTES
from urlab_ros_bridge.sim.streams.control_stream import DRAIN_LIMIT
from urlab_ros_bridge.sim.streams.control_stream import JSON_WEIGHT
from urlab_ros_bridge.transport.receiver import MessageReceiver
from urlab_ros_bridge.wire import control as wire


class Pipe:
    """Stands in for the SUB socket: messages wait in `queue`, `taken` counts parts."""

    taken = 0

    def __init__(self):
        self.queue, self.filters, self.rest = [], [], []

    def setsockopt(self, option, topic):
        if option == zmq.SUBSCRIBE:
            self.filters.append(topic)
        else:
            assert option == zmq.UNSUBSCRIBE
            self.filters.remove(topic)

    def getsockopt(self, option):
        if option == zmq.RCVMORE:
            return int(bool(self.rest))
        if option == zmq.LAST_ENDPOINT:
            return b''
        assert option == zmq.EVENTS
        return zmq.POLLIN if self.queue or self.rest else 0

    def recv(self, flags):
        assert flags == zmq.NOBLOCK
        self.taken += 1
        self.rest = self.rest or list(self.queue.pop(0))
        return self.rest.pop(0)


class Inlet:
    """A world with a control stream; `send` and drain."""

    def __init__(self, made):
        self.rig, self.pipe, self.counters = made, Pipe(), StreamCounters()
        self.stream = ControlStream(made.engine, MessageReceiver(self.pipe), self.counters)

    def send(self, *parts):
        self.pipe.queue.append(list(parts))
        with self.rig.engine.lock:
            self.stream.drain()

    def setpoints(self, pairs, prefix='rover'):
        ids, values = zip(*pairs, strict=True)
        self.send(wire.control_topic('control', prefix), wire.pack_setpoints(ids, values))

    def slot(self, prefix='rover'):
        return self.rig.engine.controls[prefix].setpoints['zmq'].tolist()


@pytest.fixture
def inlet(rig):
    """Return a factory: world name -> Inlet, in live mode."""
    return lambda world='rover', **more: Inlet(rig(world=world, **more))


def test_a_flood_does_not_stop_time(inlet):
    made = inlet()
    made.pipe.queue += [[b'rover/control ', wire.pack_setpoints([0], [1.0])]] * (3 * DRAIN_LIMIT)
    with made.rig.engine.lock:
        made.stream.drain()
    assert len(made.pipe.queue) == 2 * DRAIN_LIMIT


@pytest.mark.parametrize(
    'parts',
    [
        [b'rover/control '],
        [b'rover/control ', b'\x01'],
        [b'rover/control ', wire.pack_setpoints([0, 1], [9.0, float('nan')])],
        [b'rover/set_gains ', b'{"left_wheel": {"kp": 1}}'],
        [b'ghost/control ', wire.pack_setpoints([0], [9.0])],
    ],
)
def test_invalid_messages_are_counted_and_change_nothing(inlet, caplog, parts):
    made = inlet()
    for _ in range(2):
        made.send(*parts)
    assert made.slot() == [0.0, 0.0] and made.counters.rejected == 2
    assert made.counters.applied == 0 and len(caplog.records) == 1


def test_a_taken_port_only_switches_the_stream_off(server, connect, caplog):
    first = server()
    port = int(first.endpoints['control'].rpartition(':')[2])
    second = server(control_port=port)
    assert 'control' not in second.endpoints and 'info' in second.endpoints
    assert '--control-port' in caplog.text
    assert np.isfinite(connect(second).ask('step')['time'])


def test_large_messages_leave_the_rest_to_the_next_step(inlet):
    made = inlet()
    large = [b'rover/control ', wire.pack_setpoints(range(DRAIN_BYTES // 32), [0.0] * 2048)]
    gains = [b'rover/set_gains ', b'{"a":{}' + b' ' * (DRAIN_BYTES // JSON_WEIGHT) + b'}']
    for message, each in ((large, 4), (gains, 1)):
        made.pipe.queue = [message] * 12
        with made.rig.engine.lock:
            made.stream.drain()
        assert len(made.pipe.queue) == 12 - each


def test_a_message_of_very_many_parts_is_dropped_over_several_steps(inlet):
    made = inlet()
    parts = 10 * DRAIN_LIMIT
    made.pipe.queue = [[b'rover/control '] + [b''] * parts]
    with made.rig.engine.lock:
        made.stream.drain()
        assert made.counters.rejected == 1 and made.pipe.taken == 3
        drains = 0
        while made.pipe.rest:
            before = made.pipe.taken
            made.stream.drain()
            assert made.pipe.taken - before <= DRAIN_LIMIT
            drains += 1
    assert drains == 10
    left = made.rig.model.actuator('rover_left_wheel').id
    made.setpoints([(left, 1.5)])
    assert 1.5 in made.slot()
