# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Law: what is published is of the time of its stamp."""

import mujoco
import numpy as np
import pytest

INTEGRATORS = ('euler', 'implicit', 'implicitfast', 'rk4')
ACCELERATION = int(mujoco.mjtStage.mjSTAGE_ACC)
TUMBLING = """
<mujoco>
  <option timestep="0.002" magnetic="0.2 0 -0.4"/>
  <worldbody>
    <geom name="floor" type="plane" size="9 9 .1"/>
    <body name="mark" pos="1 2 3" mocap="true"><site name="mark"/></body>
    <body name="box" pos="0 0 2">
      <freejoint name="free"/>
      <geom name="box" type="box" size=".2 .3 .1"/>
      <site name="imu" pos=".1 .05 .02" euler="20 40 60"/>
      <camera name="eye"/>
      <body pos="0 0 .2">
        <joint name="swing" axis="0 1 0" damping=".1" range="-60 60"/>
        <geom type="capsule" fromto="0 0 0 0 0 .4" size=".05"/>
        <site name="tip" pos="0 0 .4"/>
        <body pos="0 0 .5">
          <joint name="ball" type="ball"/>
          <geom type="sphere" size=".06" pos=".1 0 0"/>
        </body>
      </body>
    </body>
  </worldbody>
  <tendon><spatial name="string"><site site="mark"/><site site="tip"/></spatial></tendon>
  <actuator>
    <position name="servo" joint="swing" kp="20"/>
    <motor name="pull" tendon="string"/>
  </actuator>
  <sensor>
    <accelerometer name="accelerometer" site="imu"/><gyro name="gyro" site="imu"/>
    <velocimeter name="velocimeter" site="imu"/><magnetometer name="magnetometer" site="imu"/>
    <framequat name="quat" objtype="site" objname="imu"/>
    <framepos name="pos" objtype="site" objname="imu" reftype="site" refname="tip"/>
    <framexaxis name="axis" objtype="site" objname="imu"/>
    <framelinvel name="linvel" objtype="site" objname="imu"/>
    <frameangvel name="angvel" objtype="site" objname="imu"/>
    <framelinacc name="linacc" objtype="site" objname="imu"/>
    <frameangacc name="angacc" objtype="site" objname="imu"/>
    <force name="force" site="tip"/><torque name="torque" site="tip"/>
    <touch name="touch" site="tip"/><rangefinder name="range" site="imu"/>
    <jointpos name="jointpos" joint="swing"/><jointvel name="jointvel" joint="swing"/>
    <jointactuatorfrc name="jointactfrc" joint="swing"/>
    <jointlimitpos name="limitpos" joint="swing"/><jointlimitvel name="limitvel" joint="swing"/>
    <jointlimitfrc name="limitfrc" joint="swing"/>
    <ballquat name="ballquat" joint="ball"/><ballangvel name="ballangvel" joint="ball"/>
    <tendonpos name="tendonpos" tendon="string"/><tendonvel name="tendonvel" tendon="string"/>
    <actuatorpos name="actuatorpos" actuator="servo"/>
    <actuatorvel name="actuatorvel" actuator="servo"/>
    <actuatorfrc name="actuatorfrc" actuator="servo"/>
    <subtreecom name="com" body="box"/><subtreelinvel name="comvel" body="box"/>
    <subtreeangmom name="momentum" body="box"/><clock name="clock"/>
    <e_potential name="potential"/><e_kinetic name="kinetic"/>
    <camprojection name="projection" camera="eye" site="tip"/>
  </sensor>
</mujoco>
"""


@pytest.fixture
def tumbling(rig, mjcf):
    made = rig(model=mjcf(TUMBLING, 't'))
    made.ask('set_mode', mode='direct')
    made.data.qvel[:6] = (0.3, -0.2, 1.0, 4.0, -3.0, 2.0)
    made.data.qvel[6:] = (2.0, 1.0, -2.0, 3.0)
    with made.engine.lock:
        made.engine.forward()
    return made


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


@pytest.mark.parametrize('integrator', INTEGRATORS)
def test_sensors_show_the_state_that_is_published_with_them(tumbling, integrator):
    tumbling.ask('set_sim_options', options={'integrator': integrator})
    model, data = tumbling.model, tumbling.data
    for step in range(60):
        before = present(tumbling)
        reply = tumbling.ask('step', n_steps=1, observations='full',
                             per_articulation={'t': {'ctrl': [np.sin(step), 0.5]}})  # fmt: skip
        before.ctrl[:] = data.ctrl
        mujoco.mj_forward(model, before)
        truth = present(tumbling)
        mujoco.mj_forward(model, truth)
        shown = data.sensordata
        then, forces = slots(model, False), slots(model, True)
        np.testing.assert_array_equal(shown[then], truth.sensordata[then])
        np.testing.assert_allclose(shown[forces], before.sensordata[forces], 1e-9, 1e-9)
        told = reply['per_articulation']['t']
        quat = truth.sensordata[model.sensor('t_quat').adr[0] :][:4]
        assert told['sensors']['quat'] == quat.tolist()
        assert told['bodies']['box']['xpos'] == truth.xpos[model.body('t_box').id].tolist()
    assert step == 59 and forces.sum() > 10 and then.sum() > 40


@pytest.mark.parametrize('integrator', INTEGRATORS)
def test_a_plain_session_sees_what_mj_step_leaves_and_ours_what_is_published(tumbling, integrator):
    model, data = tumbling.model, tumbling.data
    stock, ours = tumbling.caller(), tumbling.caller(published_state=True)
    stock.hello()  # takes the place of the other plain session
    shared = tumbling.caller(shared=True)
    tumbling.ask('set_mode', mode='direct')
    shared.ask('set_sim_options', options={'integrator': integrator})
    plain = present(tumbling)
    names = tumbling.engine.controls['t'].articulation.sensors
    for step in range(60):
        ctrl = [np.sin(step), 0.5]
        fields = {'n_steps': 1 + step % 3, 'per_articulation': {'t': {'ctrl': ctrl}}}
        asker = stock if step % 2 else shared
        if step == 30:  # another hello: the session that was there before is ours
            ours.hello(published_state=True)
            stock, asker = ours, ours
        told = asker.ask('step', **fields)['per_articulation']['t']
        plain.ctrl[:] = data.ctrl
        for _ in range(fields['n_steps']):
            mujoco.mj_step(model, plain)
        source = plain if asker is stock and step < 30 else data
        for name, sensor in names.items():
            assert told['sensors'][name] == source.sensordata[sensor.slots].tolist(), (step, name)
        np.testing.assert_array_equal(told['qpos'], plain.qpos)
    assert not np.array_equal(plain.sensordata, data.sensordata)
