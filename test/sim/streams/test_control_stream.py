# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The control stream: what reaches the setpoints, what is discarded, what is refused."""

import numpy as np
import pytest
import zmq

from urlab_ros_bridge.sim.streams.control_stream import ControlStream
from urlab_ros_bridge.sim.streams.control_stream import DRAIN_BYTES
from urlab_ros_bridge.sim.streams.control_stream import DRAIN_LIMIT
from urlab_ros_bridge.sim.streams.control_stream import JSON_WEIGHT
from urlab_ros_bridge.transport.receiver import MessageReceiver
from urlab_ros_bridge.wire import control as wire


class Inlet:
    """A world in live mode with a control stream, and who sends to it."""

    def __init__(self, made, keep):
        self.rig, self.counters = made, made.simulation.inbound
        receiver, self.sender = (
            keep(zmq.Context.instance().socket(kind)) for kind in (zmq.SUB, zmq.XPUB)
        )
        receiver.rcvhwm = self.sender.sndhwm = 0
        receiver.bind(f'inproc://{id(self)}')
        self.stream = ControlStream(made.simulation, MessageReceiver(receiver))
        self.sender.connect(f'inproc://{id(self)}')
        self.drain()
        for _ in wire.KINDS:
            self.sender.recv()  # it has subscribed

    def drain(self):
        with self.rig.engine.lock:
            self.stream.drain()

    def slot(self):
        return self.rig.engine.controls['rover'].setpoints['zmq'].tolist()


@pytest.fixture
def inlet(rig, keep):
    return Inlet(rig(), keep)


SETPOINTS = [b'rover/control ', wire.pack_setpoints([0, 1], [9.0, 9.0])]
LARGE = [b'rover/control ', wire.pack_setpoints(range(DRAIN_BYTES // 32), [0.0] * 2048)]
GAINS = [b'rover/set_gains ', b'{"a":{}' + b' ' * (DRAIN_BYTES // JSON_WEIGHT) + b'}']


@pytest.mark.parametrize(('message', 'each'), [(SETPOINTS, DRAIN_LIMIT), (LARGE, 4), (GAINS, 1)])
def test_many_or_large_messages_leave_the_rest_to_the_next_step(inlet, message, each):
    for _ in range(3 * each):
        inlet.sender.send_multipart(message)
    inlet.drain()
    assert inlet.counters.received == each


@pytest.mark.parametrize(
    'parts',
    [
        [b'rover/control '],
        [b'rover/control ', b'\x01'],
        [b'rover/control ', wire.pack_setpoints([0, 1], [9.0, float('nan')])],
        [b'rover/set_gains ', b'{"left_wheel": {"kp": 1}}'],
        SETPOINTS,
    ],
)
def test_invalid_messages_and_setpoints_during_an_e_stop_change_nothing(inlet, caplog, parts):
    inlet.rig.ask('e_stop', engaged=True)
    caplog.clear()
    for _ in range(2):
        inlet.sender.send_multipart(parts)
    inlet.drain()
    assert inlet.slot() == [0.0, 0.0] and inlet.counters.rejected == 2
    assert inlet.counters.applied == 0 and len(caplog.records) == 1


def test_a_claimed_robot_takes_nothing_from_senders_without_a_name(inlet):
    inlet.rig.ask('claim_control', articulation='rover')
    inlet.sender.send_multipart(SETPOINTS)
    inlet.drain()
    assert inlet.slot() == [0.0, 0.0] and inlet.counters.rejected == 1
    inlet.rig.ask('release_control', articulation='rover')
    inlet.sender.send_multipart(SETPOINTS)
    inlet.drain()
    assert inlet.slot() == [9.0, 9.0]


def test_a_taken_port_only_switches_the_stream_off(server, connect, caplog):
    first = server()
    port = int(first.endpoints['control'].rpartition(':')[2])
    second = server(control_port=port)
    assert 'control' not in second.endpoints and 'info' in second.endpoints
    assert '--control-port' in caplog.text
    assert np.isfinite(connect(second).ask('step')['time'])


def test_a_message_of_very_many_parts_is_dropped_over_several_steps(inlet):
    inlet.sender.send_multipart([b'rover/control '] + [b''] * 10 * DRAIN_LIMIT)
    inlet.sender.send_multipart(SETPOINTS)
    for _ in range(10):
        inlet.drain()
    assert (inlet.counters.rejected, inlet.counters.applied) == (1, 0)
    inlet.drain()
    assert inlet.counters.applied == 1 and inlet.slot() == [9.0, 9.0]
