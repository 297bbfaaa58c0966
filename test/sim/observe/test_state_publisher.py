# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Rows carry what MjData holds, and only for subscribers."""

import numpy as np
import pytest
import zmq

from urlab_ros_bridge.client.replies.observations import decode_snapshot
from urlab_ros_bridge.sim.observe.state import StatePublisher
from urlab_ros_bridge.transport.publisher import Publisher
from urlab_ros_bridge.wire import rows


@pytest.fixture
def tick(rig, keep):
    """Return a function: world, prefix -> (rig, publish), where publish() returns what is sent."""

    def start(world, prefix):
        made = rig(world=world, step_mode='direct')
        sender, receiver = (
            keep(zmq.Context.instance().socket(kind)) for kind in (zmq.XPUB, zmq.SUB)
        )
        sender.bind(f'inproc://{id(sender)}')
        publisher = StatePublisher(made.engine, made.simulation.observer, Publisher(sender))
        receiver.connect(f'inproc://{id(sender)}')
        receiver.subscribe(prefix)

        def publish():
            publisher.publish(True)
            return [receiver.recv_multipart() for _ in iter(lambda: receiver.poll(0), 0)]

        return made, publish

    return start


def test_rows_equal_mujoco(tick):
    made, publish = tick('quadruped', b'')
    made.data.qvel[:] = np.random.default_rng(0).normal(size=made.model.nv)
    made.ask('step', n_steps=3)
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


def test_a_scan_has_its_time_and_is_sent_when_it_is_new(tick):
    rover, publish = tick('rover', b'rover/sensor/scan')
    sent, before = [], None
    for _ in range(120):
        rover.ask('step')
        sent.append(len(publish()))
        robot = decode_snapshot(rover.simulation.observer.snapshot()).articulations['rover']
        now = rover.engine.clock.stamp_ns
        assert robot.scan_stamps['scan'] == now - now % 10**8  # 10 Hz: the last multiple of 0.1 s
        assert sent[-1] or before is None or np.array_equal(robot.sensors['scan'], before)
        before = robot.sensors['scan']
    # 120 ticks of 2 ms; a repeated scan would have a wrong stamp.
    assert [tick for tick, count in enumerate(sent, start=1) if count] == [50, 100]
