# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Rows carry what MjData holds, in the order of the protocol, and only for who listens."""

import numpy as np
import pytest
import zmq

from urlab_ros_bridge.sim.streams.state import StatePublisher
from urlab_ros_bridge.transport.publisher import Publisher
from urlab_ros_bridge.wire import rows


class Pipe:
    """Stands in for the XPUB socket: holds subscriptions to read and messages that were sent."""

    def __init__(self):
        self.subscriptions = []
        self.parts = []

    def getsockopt(self, option):
        if option == zmq.LAST_ENDPOINT:
            return b''
        assert option == zmq.EVENTS
        return zmq.POLLIN if self.subscriptions else 0

    def recv(self, flags):
        return self.subscriptions.pop(0)

    def send(self, data, flags):
        assert isinstance(data, bytes) and flags & zmq.NOBLOCK
        self.parts.append(data)


@pytest.fixture
def tick(rig):
    """Return a function: world, prefixes -> (rig, publish) where publish() gives one tick."""

    def start(world='rover', *prefixes):
        made = rig(world=world)
        pipe = Pipe()
        publisher = StatePublisher(made.engine, made.context.observer, Publisher(pipe))
        pipe.subscriptions += [b'\x01' + prefix for prefix in prefixes]

        def publish(with_rows=True):
            pipe.parts.clear()
            publisher.publish(with_rows)
            return list(zip(pipe.parts[::2], pipe.parts[1::2], strict=True))

        return made, publish

    return start


def move(made, seed=0):
    rng = np.random.default_rng(seed)
    made.engine.lock.acquire()
    made.data.qvel[:] = rng.normal(size=made.model.nv)
    for _ in range(3):
        made.engine.substep()
    made.engine.lock.release()


def test_a_whole_tick_in_order(tick):
    made, publish = tick('rover', b'')
    move(made)
    topics = [topic.decode() for topic, _ in publish()]
    kinds = [rows.parse_topic(topic).kind for topic in topics]
    order = ['joint', 'sensor', 'base_state', 'twist', 'effort', 'scene', 'state_full', 'sim_time']
    assert sorted(kinds, key=order.index) == kinds
    assert set(kinds) == set(order) and len(set(topics)) == len(topics)


def test_rows_equal_mujoco(tick):
    made, publish = tick('quadruped', b'')
    move(made)
    data, model = made.data, made.model
    found = dict(publish())
    for joint in range(1, model.njnt):
        name = model.joint(joint).name.removeprefix('quadruped_')
        row = rows.unpack_joint(found[f'quadruped/joint/{name}'.encode()])
        q, v = model.jnt_qposadr[joint], model.jnt_dofadr[joint]
        expected = np.array([data.qpos[q], data.qvel[v], data.qacc[v]], np.float32)
        assert row.id == joint and np.array_equal(np.array(row[1:], np.float32), expected)
    base = rows.unpack_base_state(found[b'quadruped/base_state/base'])
    assert np.allclose(base.position, data.qpos[:3], atol=1e-6)
    w, x, y, z = data.qpos[3:7]
    assert np.allclose(base.quaternion_xyzw, (x, y, z, w), atol=1e-6)
    assert np.allclose(base.linear_velocity, data.qvel[:3], rtol=1e-6)
    assert np.allclose(base.angular_velocity, data.qvel[3:6], rtol=1e-6)
    for sensor in range(model.nsensor):
        name = model.sensor(sensor).name.removeprefix('quadruped_')
        row = rows.unpack_sensor(found[f'quadruped/sensor/{name}'.encode()])
        start = model.sensor_adr[sensor]
        values = data.sensordata[start : start + model.sensor_dim[sensor]].astype(np.float32)
        assert row.id == sensor and np.array_equal(row.values, values)
    effort = rows.unpack_effort(found[b'quadruped/effort'])
    assert np.array_equal(effort, data.qfrc_actuator[6:18].astype(np.float32))


def test_entities_are_doubles_and_wxyz(tick):
    made, publish = tick('rover', b'scene/')
    move(made)
    found = dict(publish())
    pallet = made.model.body('pallet').id
    for field, expected in (
        ('xpos', made.data.xpos[pallet]),
        ('xquat', made.data.xquat[pallet]),
        ('qpos', made.data.joint('pallet_free').qpos),
        ('qvel', made.data.joint('pallet_free').qvel),
    ):
        row = rows.unpack_entity(field, found[f'scene/pallet/{field}'.encode()])
        assert np.array_equal(row, expected)
    assert b'scene/target/qpos' not in found and b'scene/target/xpos' in found


def test_nothing_is_built_for_nobody(tick, monkeypatch):
    made, publish = tick('rover')
    monkeypatch.setattr(made.context.observer, 'snapshot', lambda: pytest.fail('built for nobody'))
    assert publish() == []
    made, publish = tick('rover', b'rover/joint/left', b'sim_time')
    monkeypatch.setattr(made.context.observer, 'snapshot', lambda: pytest.fail('built for nobody'))
    assert [topic for topic, _ in publish()] == [b'rover/joint/left_wheel', b'sim_time']


def test_a_scan_is_sent_when_it_is_new(tick):
    made, publish = tick('rover', b'rover/sensor/scan')
    sent = []
    for _ in range(120):
        move_on(made)
        sent.append(len(publish()))
    # 120 ticks of 2 ms at ten scans a second; the held one of before would have a wrong stamp.
    assert [tick for tick, count in enumerate(sent, start=1) if count] == [50, 100]


def test_while_time_stands_still_the_held_scan_is_sent_once(tick):
    made, publish = tick('rover', b'rover/sensor/scan')
    for _ in range(3):
        move_on(made)
    made.engine.run.paused = True
    assert [len(publish()) for _ in range(3)] == [1, 0, 0]


def move_on(made):
    with made.engine.lock:
        made.engine.substep()


def test_the_twist_row_is_what_the_robot_is_told(tick):
    made, publish = tick('rover', b'rover/twist')
    made.ask('set_twist', linear=[0.5, 0, 0], angular=[0, 0, 0.25])
    for _ in range(500):
        move_on(made)
    assert rows.unpack_twist(dict(publish())[b'rover/twist']) == (0.5, 0.0, 0.25)


MIXED = """<mujoco model="lab"><worldbody>
  <body name="base" pos="0 0 1"><freejoint name="root"/><geom size="0.1"/>
    <body name="a"><joint name="shoulder" type="ball"/><geom size="0.1"/>
      <body name="b" pos="0 0 0.3"><joint name="rail" type="slide" axis="1 0 0"/>
        <joint name="hinge" axis="0 1 0"/><geom size="0.1"/></body></body></body>
  <body name="door" pos="3 0 0"><joint name="pin"/><geom size="0.1"/></body>
  </worldbody><actuator><motor name="m" joint="hinge"/></actuator></mujoco>"""


@pytest.fixture
def mixed_tick(rig, mjcf):
    """Return (rig, subscriptions, publish) of a robot with every kind of joint."""
    made = rig(model=mjcf(MIXED))
    pipe = Pipe()
    publisher = StatePublisher(made.engine, made.context.observer, Publisher(pipe))

    def publish():
        pipe.parts.clear()
        publisher._next_check = 0.0
        publisher.publish(True)
        return list(zip(pipe.parts[::2], pipe.parts[1::2], strict=True))

    return made, pipe.subscriptions, publish


def test_every_kind_of_joint_has_its_row(mixed_tick):
    made, subscriptions, publish = mixed_tick
    subscriptions.append(b'\x01')
    move(made, seed=3)
    found = dict(publish())
    assert b'lab/joint/root' not in found and b'lab/base_state/root' in found
    for name in ('shoulder', 'rail', 'hinge'):
        joint = made.data.joint(f'lab_{name}')
        row = rows.unpack_joint(found[f'lab/joint/{name}'.encode()])
        expected = np.array([joint.qpos[0], joint.qvel[0], joint.qacc[0]], np.float32)
        assert row.id == joint.id and np.array_equal(np.array(row[1:], np.float32), expected)
    # Torques of hinges and slides only; a door that nobody drives is an entity without qpos.
    assert rows.unpack_effort(found[b'lab/effort']).shape == (2,)
    assert b'scene/door/xpos' in found and b'scene/door/qpos' not in found
    # Every robot holds a twist; actions are sent when there are any.
    assert found[b'lab/twist'] == bytes(12) and b'lab/actions' not in found


def test_a_subscription_that_ends_stops_its_rows(mixed_tick):
    _made, subscriptions, publish = mixed_tick
    subscriptions += [b'\x01lab/joint/', b'\x01sim_time', b'\x01scene/door/xquat']
    assert [topic for topic, _ in publish()] == [
        b'lab/joint/shoulder', b'lab/joint/rail', b'lab/joint/hinge', b'scene/door/xquat',
        b'sim_time']  # fmt: skip
    subscriptions += [b'\x00lab/joint/', b'\x01lab/joint/hinge', b'\x00scene/door/xquat']
    assert [topic for topic, _ in publish()] == [b'lab/joint/hinge', b'sim_time']
    subscriptions += [b'\x00lab/joint/hinge', b'\x00sim_time', b'\x00never/asked', b'', b'\x07']
    assert publish() == []


def test_odd_subscriptions_hurt_nobody(mixed_tick):
    _made, subscriptions, publish = mixed_tick
    subscriptions += [b'\x01\xff\xfe', b'\x01' + b'x' * 100_000, b'\x01sim_timer', b'\x01sim_time']
    assert [topic for topic, _ in publish()] == [b'sim_time']


def test_subscriptions_are_prefixes_whatever_their_number():
    pipe = Pipe()
    subscribed = Publisher(pipe)
    topics = [f'robot{number}/joint/j{number}' for number in range(50)]
    pipe.subscriptions += [b'\x01' + topic.encode() for topic in topics[:25]]
    pipe.subscriptions += [b'\x01robot3', b'\x01' + b'x' * 5000]
    subscribed.read_subscriptions()
    for topic in topics:
        expected = topic in topics[:25] or topic.startswith('robot3')
        assert subscribed.is_subscribed(topic) is expected
    assert not subscribed.is_subscribed('robot1/joint/j') and subscribed.is_subscribed(
        'robot1/joint/j1/more'
    )
    generation = subscribed.generation
    subscribed.read_subscriptions()
    assert subscribed.generation == generation
    pipe.subscriptions += [b'\x01', b'\x00robot3']
    subscribed.read_subscriptions()
    assert subscribed.is_subscribed('anything') and subscribed.generation == generation + 2
    pipe.subscriptions += [b'\x00']
    subscribed.read_subscriptions()
    assert not subscribed.is_subscribed('anything') and not subscribed.is_subscribed('robot35/x')
