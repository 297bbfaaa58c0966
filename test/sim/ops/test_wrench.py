# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Wrenches and expiring setpoints, compared with Newton's laws."""

import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.sim.physics.external import ExternalActions
from urlab_ros_bridge.sim.physics.external import MAX_WRENCHES
from urlab_ros_bridge.sim.physics.external import Pull
from urlab_ros_bridge.sim.physics.external import Wrench

XML = """
<mujoco><option gravity="0 0 0" timestep="0.002"/>
  <worldbody><body name="box" quat="0.7071068 0 0 0.7071068"><freejoint/>
    <geom type="box" size="0.1 0.2 0.3" mass="2"/></body></worldbody>
</mujoco>
"""


@pytest.fixture
def floating():
    model = mujoco.MjModel.from_xml_string(XML)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data, ExternalActions(model, data)


def run(floating, steps):
    model, data, external = floating
    for _ in range(steps):
        if external.active:
            external.begin()
        mujoco.mj_step(model, data)
        external.end()


def wrench(force=(0, 0, 0), torque=(0, 0, 0), until=0.0, in_body=False, name=''):
    return Wrench(1, np.array([*force, *torque], float), in_body, until, name)


def test_impulses_add_up_and_a_name_replaces_its_own(floating):
    _, data, external = floating
    external.apply(wrench((3.0, -1.0, 0.5), until=0.001))
    external.apply(wrench((1.0, 0, 0), until=0.349))
    external.apply(wrench((0, 5.0, 0), until=0.099, name='a'))
    external.apply(wrench((0, 2.0, 0), until=0.099, name='a'))
    run(floating, 400)
    impulse = np.array([3.0, -1.0, 0.5]) * 0.002 + [0.35, 0.2, 0.0]
    assert 2.0 * data.qvel[:3] == pytest.approx(impulse, rel=1e-9)
    assert not data.xfrc_applied.any() and not external.active


def test_a_torque_turns_about_the_centre_of_mass(floating):
    _, data, external = floating
    start = data.body('box').xipos.copy()
    external.apply(wrench(torque=(0, 0, 0.3), until=0.199))
    run(floating, 200)
    inertia = 2.0 * (0.1**2 + 0.2**2) / 3.0
    assert data.qvel[5] == pytest.approx(0.3 * 0.2 / inertia, rel=1e-6)
    assert data.body('box').xipos == pytest.approx(start, abs=1e-12)


def test_setpoints_expire_at_their_time_unless_renewed(floating):
    *_, external = floating
    slot = np.array([1.0, 2.0, 3.0])
    external.expire_setpoints(slot, [0, 1], 0.1)
    run(floating, 40)
    external.expire_setpoints(slot, [1], 0.2)
    run(floating, 20)
    assert slot.tolist() == [0.0, 2.0, 3.0]
    external.expire_setpoints(slot, [1], None)
    run(floating, 100)
    assert slot.tolist() == [0.0, 2.0, 3.0] and not external.active


PULL = {'point': [0, 0, 0], 'target': [1, 0, 0], 'duration': 1.0}


@pytest.mark.parametrize('op', ['apply_wrench', 'pull_body'])
def test_wrenches_beyond_the_limit_are_refused_until_they_are_cleared(rover, op):
    fields = {'apply_wrench': {'force': [1, 0, 0], 'duration': 9.0}, 'pull_body': PULL}[op]
    for number in range(MAX_WRENCHES):
        rover.ask(op, body='pallet', name=str(number), **fields)
    assert rover.code(op, body='pallet', name='more', **fields) == 'bad_value'
    rover.ask('reset')
    rover.ask(op, body='pallet', name='more', **fields)


ARM = """<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="5 5 1"/>
  <body pos="0 0 0.8"><joint axis="0 0 1" damping="1"/>
    <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="2"/>
    <body pos="0.3 0 0"><joint axis="0 1 0" damping="1"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="1"/>
      <body name="it" pos="0.3 0 0"><joint axis="0 1 0" damping="1"/>
        <geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.02" mass="0.5"/>
  </body></body></body></worldbody></mujoco>"""


@pytest.mark.parametrize(('rate', 'delay'), [(4.0, 0.3), (60.0, 0.0)])
def test_a_pulled_point_comes_to_rest_at_its_target(rate, delay):
    """However late and seldom its place is sent: overshoot below a fifth, no divergence."""
    model = mujoco.MjModel.from_xml_string(ARM)
    data = mujoco.MjData(model)
    external = ExternalActions(model, data)
    body = model.body('it').id
    point = np.array([0.02, 0.01, 0.02])
    while data.time < 0.5:  # it settles
        mujoco.mj_step(model, data)

    def grip():
        return data.xpos[body] + data.xmat[body].reshape(3, 3) @ point

    start, begun, sent = grip(), data.time, -np.inf
    way = np.array([-0.1, 0.2, 0.05])
    mass = external.effective_mass(body, start)
    farthest, last = 0.0, []
    while data.time < begun + 7.0:
        if data.time - sent >= 1.0 / rate:
            sent = data.time
            share = np.clip((data.time - begun - delay) / 0.2, 0.0, 1.0)  # a fast pointer
            target = start + share * way
            external.pull(
                Pull(body, np.zeros(6), False, sent + 0.6, 'page', None, point, target, mass)
            )
        external.begin()
        mujoco.mj_step(model, data)
        external.end()
        along = float((grip() - start) @ way) / float(way @ way)
        farthest = max(farthest, along)
        if data.time > begun + 6.5:
            last.append(grip())
    assert farthest < 1.2
    size = np.linalg.norm(way)
    assert np.linalg.norm(last[-1] - start - way) < 0.1 * size
    assert np.ptp(last, axis=0).max() < 0.1 * size
