# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Controllers: the PD law, what they bind, and parameters that change as a whole or not at all."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.sim.physics.control.controllers import InvalidControllerParameters
from urlab_ros_bridge.sim.physics.control.controllers import make_controller

# A foreign actuator comes first, so that local slots and global ids differ; "pull" drives a tendon
# and "spin" a ball joint, which a PD controller cannot bind.
XML = """
<mujoco>
  <compiler angle="radian"/>
  <default><joint armature="1"/></default>
  <worldbody>
    <body><freejoint name="other_free"/><geom size="0.1"/>
      <body><joint name="other_hinge"/><geom size="0.1"/></body></body>
    <body pos="0 0 1"><joint name="r_hinge" range="-0.5 0.7" limited="true"/><geom size="0.1"/>
      <body pos="0 0 1"><joint name="r_slide" type="slide"/><geom size="0.1"/>
        <body pos="0 0 1"><joint name="r_ball" type="ball"/><geom size="0.1"/></body></body></body>
  </worldbody>
  <tendon><fixed name="t"><joint joint="r_hinge" coef="1"/></fixed></tendon>
  <actuator>
    <motor name="other_motor" joint="other_hinge"/>
    <motor name="r_slide" joint="r_slide"/>
    <motor name="r_pull" tendon="t"/>
    <motor name="r_hinge" joint="r_hinge"/>
    <motor name="r_spin" joint="r_ball"/>
  </actuator>
</mujoco>"""


NAMES = ['slide', 'pull', 'hinge', 'spin']


IDS = np.array([1, 2, 3, 4])


@pytest.fixture(scope='module')
def model():
    return mujoco.MjModel.from_xml_string(XML)


def pd(model, **config):
    return make_controller({'kind': 'pd', **config}, model, IDS, NAMES)


gain = st.floats(0, 1e6)


@given(st.integers(0, 2**32 - 1), gain, gain, gain)
def test_pd_law_in_every_bound_joint(seed, kp, kv, limit):
    model = mujoco.MjModel.from_xml_string(XML)
    rng = np.random.default_rng(seed)
    data = mujoco.MjData(model)
    data.qpos[:] = rng.normal(size=model.nq)
    data.qvel[:] = rng.normal(size=model.nv) * 10
    controller = pd(model, kp={'hinge': kp}, default_kv=kv, torque_limit={'slide': limit})
    setpoint, ctrl = rng.normal(size=4), rng.normal(size=4)
    before = ctrl.copy()
    controller.compute(model, data, setpoint, ctrl)
    slide, hinge = data.joint('r_slide'), data.joint('r_hinge')
    force = 100.0 * (setpoint[0] - slide.qpos[0]) - kv * slide.qvel[0]
    assert ctrl[0] == pytest.approx(min(max(force, -limit), limit), abs=1e-9)
    target = min(max(setpoint[2], -0.5), 0.7)  # the hinge is limited
    torque = kp * (target - hinge.qpos[0]) - kv * hinge.qvel[0]
    assert ctrl[2] == pytest.approx(min(max(torque, -200.0), 200.0), abs=1e-9)
    assert ctrl[[1, 3]].tolist() == before[[1, 3]].tolist()  # what it does not bind, it leaves


def test_hinge_and_slide_actuators_are_bound_or_only_the_named_ones(model):
    assert pd(model).bound.tolist() == [True, False, True, False]
    assert pd(model, actuators=['hinge']).bound.tolist() == [False, False, True, False]
    with pytest.raises(InvalidControllerParameters, match='pull'):
        pd(model, actuators=['pull'])


def test_passthrough_takes_no_params(model):
    controller = make_controller({'kind': 'base'}, model, IDS, NAMES)
    ctrl = np.zeros(4)
    controller.compute(model, mujoco.MjData(model), np.arange(4.0), ctrl)
    assert ctrl.tolist() == [0, 1, 2, 3]
    assert (controller.kind, controller.params(), controller.schema()) == ('base', {}, {})
    with pytest.raises(InvalidControllerParameters, match='kp'):
        controller.configure({'kp': {}})
