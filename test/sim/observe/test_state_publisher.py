# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Rows carry what MjData holds, and only for subscribers."""

import numpy as np
import pytest
import zmq

from urlab_ros_bridge.sim.observe.state import StatePublisher
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
        publisher = StatePublisher(made.engine, made.simulation.observer, Publisher(pipe))
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


def test_nothing_is_built_without_subscribers(tick, monkeypatch):
    made, publish = tick('rover')
    monkeypatch.setattr(
        made.simulation.observer, 'snapshot', lambda: pytest.fail('built for nobody')
    )
    assert publish() == []
    made, publish = tick('rover', b'rover/joint/left', b'sim_time')
    monkeypatch.setattr(
        made.simulation.observer, 'snapshot', lambda: pytest.fail('built for nobody')
    )
    assert [topic for topic, _ in publish()] == [b'rover/joint/left_wheel', b'sim_time']


def test_a_scan_is_sent_when_it_is_new(tick):
    made, publish = tick('rover', b'rover/sensor/scan')
    sent = []
    for _ in range(120):
        move_on(made)
        sent.append(len(publish()))
    # 120 ticks of 2 ms at ten scans a second; a repeated scan would have a wrong stamp.
    assert [tick for tick, count in enumerate(sent, start=1) if count] == [50, 100]


def move_on(made):
    with made.engine.lock:
        made.engine.substep()
