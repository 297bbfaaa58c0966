# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The control stream: what reaches the setpoints, what is discarded, what is refused."""

import logging

import numpy as np
import pytest
import zmq

from urlab_ros_bridge.sim.stage import StreamCounters
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
        return self.rig.engine.controls[prefix].slots['zmq'].tolist()


@pytest.fixture
def inlet(rig):
    """Return a factory: world name -> Inlet, in live mode."""
    return lambda world='rover', **more: Inlet(rig(world=world, **more))


def test_filters_are_those_of_the_page_and_go_with_the_world(inlet):
    made = inlet()
    assert made.pipe.filters == [b'rover/control ', b'rover/set_gains ']
    made.pipe.queue.append([b'rover/control ', b'late'])
    made.stream.close()
    assert made.pipe.filters == [] and made.pipe.queue == []


def test_unknown_ids_are_counted_and_said_once(inlet, caplog):
    made = inlet()
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            made.setpoints([(0, 1.0), (999, 7.0), (-5, 7.0)])
    assert made.slot()[0] == 1.0 and made.counters.unknown_ids == 6
    (record,) = caplog.records
    assert '999' in record.message and 'available: 0, 1' in record.message


def test_another_robots_actuators_stay_alone(rig, tmp_path):
    text = (
        '<mujoco model="m"><worldbody><body name="b"><joint name="j"/><geom size="0.1"/></body>'
        '</worldbody><actuator><motor name="a" joint="j"/></actuator></mujoco>'
    )
    (tmp_path / 'one.xml').write_text(text)
    (tmp_path / 'two.yaml').write_text(
        'articulations:\n  - {prefix: left, model: one.xml}\n  - {prefix: right, model: one.xml}\n'
    )
    made = Inlet(rig(model=tmp_path / 'two.yaml'))
    right = made.rig.model.actuator('right_a').id
    made.setpoints([(right, 3.0)], 'left')
    assert made.slot('left') == made.slot('right') == [0.0] and made.counters.unknown_ids == 1
    made.setpoints([(right, 3.0)], 'right')
    assert made.slot('right') == [3.0] and made.slot('left') == [0.0]


@pytest.mark.parametrize('mode', ['direct', 'puppet'])
def test_stepped_modes_drain_and_discard(inlet, mode):
    made = inlet('quadruped')
    made.rig.ask('set_mode', mode=mode)
    before = made.slot('quadruped')
    made.pipe.queue += [[b'quadruped/control ', wire.pack_setpoints([0], [1.0])]] * 3
    made.rig.ask('forward')
    assert made.pipe.queue == [] and made.counters.discarded == 3
    assert made.slot('quadruped') == before
    made.rig.ask('set_mode', mode='live')
    made.setpoints([(0, 1.0)], 'quadruped')
    assert made.slot('quadruped')[0] == 1.0


def test_a_paused_live_world_takes_setpoints(inlet):
    made = inlet(paused=True)
    made.pipe.queue.append([b'rover/control ', wire.pack_setpoints([0], [1.0])])
    made.rig.ask('step', while_paused=True)  # the state is published after it
    made.rig.ask('step', while_paused=True)
    assert made.rig.data.ctrl[0] == 1.0


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
        [b'rover/control ', b'', b''],
        [b'rover/control ', b'\x01'],
        [b'rover/control ', wire.pack_setpoints([0, 1], [9.0, float('nan')])],
        [b'rover/set_gains ', b'{'],
        [b'rover/set_gains ', b'{"left_wheel": {"kp": 1}}'],  # a rover has no controller
        [b'ghost/control ', wire.pack_setpoints([0], [9.0])],
        [b'nonsense', b''],
    ],
)
def test_what_is_wrong_is_counted_and_changes_nothing(inlet, caplog, parts):
    made = inlet()
    for _ in range(2):
        made.send(*parts)
    assert made.slot() == [0.0, 0.0] and made.counters.rejected == 2
    assert made.counters.applied == 0 and len(caplog.records) == 1


def test_gains_reach_the_controller_or_none_does(inlet):
    made = inlet('quadruped')
    names = made.rig.engine.controls['quadruped'].controller.actuator_names
    topic = wire.control_topic('set_gains', 'quadruped')
    made.send(topic, wire.pack_gains({names[0]: {'kp': 77.0, 'torque_limit': 5.0}}))
    params = made.rig.ask('configure_controller', articulation='quadruped', params={})['params']
    assert params['kp'][names[0]] == 77.0 and params['torque_limit'][names[0]] == 5.0
    made.send(topic, wire.pack_gains({names[0]: {'kp': 1.0}, 'no_such_motor': {'kp': 1.0}}))
    again = made.rig.ask('configure_controller', articulation='quadruped', params={})['params']
    assert again == params and made.counters.rejected == 1


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


def test_a_new_world_is_not_given_half_a_message(inlet):
    made = inlet()
    made.pipe.queue = [[b'rover/control '] + [b''] * 700, [b'rover/control ', b'late']]
    with made.rig.engine.lock:
        made.stream.drain()
    made.stream.close()
    assert not made.pipe.rest and not made.pipe.queue
