# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Law: what is published is of the time of its stamp."""

import mujoco
import numpy as np
import pytest

ACCELERATION = int(mujoco.mjtStage.mjSTAGE_ACC)


@pytest.fixture
def tumbling(quadruped):
    """Return a quadruped that is thrown into the air."""
    random = np.random.default_rng(1)
    quadruped.data.qvel[:] = random.normal(size=quadruped.model.nv)
    with quadruped.engine.lock:
        quadruped.engine.forward()
    return quadruped


def torques(step):
    """Return the commands of a step."""
    ctrl = [5.0 * np.sin(step + joint) for joint in range(12)]
    return {'quadruped': {'ctrl': ctrl, 'control_mode': 'raw'}}


def present(rig):
    """Return data with the present state, of which nothing is computed."""
    data = mujoco.MjData(rig.model)
    mujoco.mj_copyData(data, rig.model, rig.data)
    return data


def slots(model, acceleration):
    """Return the slots of sensors of the acceleration stage, or of the others."""
    chosen = np.zeros(model.nsensordata, bool)
    for sensor in range(model.nsensor):
        start = model.sensor_adr[sensor]
        chosen[start : start + model.sensor_dim[sensor]] = (
            model.sensor_needstage[sensor] == ACCELERATION
        ) == acceleration
    return chosen


@pytest.mark.parametrize('integrator', ['euler', 'implicitfast', 'rk4'])
def test_sensors_show_the_state_that_is_published_with_them(tumbling, integrator):
    tumbling.ask('set_sim_options', options={'integrator': integrator})
    model, data = tumbling.model, tumbling.data
    for step in range(60):
        before = present(tumbling)
        reply = tumbling.ask('step', observations='full', per_articulation=torques(step))
        before.ctrl[:] = data.ctrl
        mujoco.mj_forward(model, before)
        truth = present(tumbling)
        mujoco.mj_forward(model, truth)
        shown = data.sensordata
        then, forces = slots(model, False), slots(model, True)
        np.testing.assert_array_equal(shown[then], truth.sensordata[then])
        np.testing.assert_allclose(shown[forces], before.sensordata[forces], 1e-9, 1e-9)
        robot = reply['per_articulation']['quadruped']
        quat = truth.sensor('quadruped_imu_quat').data.tolist()
        place = truth.body('quadruped_base_link').xpos.tolist()
        assert robot['sensors']['imu_quat'] == quat
        assert robot['bodies']['base_link']['xpos'] == place
    assert forces.any() and then.any()


@pytest.mark.parametrize('integrator', ['implicit', 'rk4'])
def test_a_plain_session_gets_the_sensors_of_mj_step_and_ours_the_published_ones(
    tumbling, integrator
):
    model, data = tumbling.model, tumbling.data
    stock, shared = tumbling.caller(), tumbling.caller(shared=True)
    tumbling.ask('set_mode', mode='direct')
    shared.ask('set_sim_options', options={'integrator': integrator})
    plain = present(tumbling)
    names = tumbling.engine.controls['quadruped'].articulation.sensors
    for step in range(60):
        if step == 30:  # another hello: the plain session that was there before is ours
            stock.hello(published_state=True)
        fields = {'n_steps': 1 + step % 3, 'per_articulation': torques(step)}
        asker = stock if step % 2 else shared
        robot = asker.ask('step', **fields)['per_articulation']['quadruped']
        plain.ctrl[:] = data.ctrl
        mujoco.mj_step(model, plain, fields['n_steps'])
        source = plain if asker is stock and step < 30 else data
        for name, sensor in names.items():
            assert robot['sensors'][name] == source.sensordata[sensor.slots].tolist(), name
        np.testing.assert_array_equal(robot['qpos'], plain.qpos)
    assert not np.array_equal(plain.sensordata, data.sensordata)
