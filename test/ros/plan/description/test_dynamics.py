# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Effort limits against the forces that MuJoCo computes for any control."""

import math

from described import FOREIGN
from described import loaded
import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.model import WorldModel
from urlab_ros_bridge.ros.plan.description.dynamics import JointDynamics
from urlab_ros_bridge.ros.plan.description.dynamics import NO_EFFORT_LIMIT

JOINT = """
<mujoco><compiler angle="radian"/><worldbody><body><joint name="j" range="-1 2" {limited}/>
<geom size=".1" mass="1"/><body pos="1 0 0"><joint name="k" range="-1 1" limited="true"/>
<geom size=".1" mass="1"/></body></body></worldbody>
<tendon><fixed name="t"><joint joint="j" coef=".5"/><joint joint="k" coef="-2"/></fixed></tendon>
<actuator>{actuators}</actuator></mujoco>
"""
LIMITED = 'limited="true"'


def efforts(actuators, limited=LIMITED, joint=''):
    text = JOINT.format(actuators=actuators, limited=f'{limited} {joint}')
    model = mujoco.MjModel.from_xml_string(text)
    return model, JointDynamics(WorldModel(model, ['']), 10.0)


@pytest.mark.parametrize(
    ('actuators', 'expected'),
    [
        ('<motor joint="j" gear="-20" ctrlrange="-1.5 1"/>', 30.0),
        ('<motor joint="j" forcerange="-3 5" gear="2"/>', 10.0),
        ('<general joint="j" dyntype="filter" gainprm="40" ctrlrange="-1 1"/>', 40.0),
        ('<general joint="j" dyntype="integrator" gainprm="7" actlimited="true" actrange="-2 1"/>',
         14.0),
        # A position servo: kp (setpoint - position), both within -1 .. 2.
        ('<position joint="j" kp="10" ctrlrange="-1 2"/>', 30.0),
        ('<position joint="j" kp="10"/>', None),
        ('<intvelocity joint="j" kp="10" actrange="-1 3"/>', 40.0),
        ('<velocity joint="j" kv="3" ctrlrange="-8 8"/>', 24.0),
        ('<muscle joint="j" ctrlrange="0 1"/>', None),
        ('<motor tendon="t" ctrlrange="-4 4" gear="3"/>', 6.0),
        ('<motor joint="j" ctrlrange="0 3"/><motor joint="j" gear="-1" ctrlrange="0 5"/>', 5.0),
        ('<motor joint="j" ctrlrange="-3 3"/><motor tendon="t" ctrlrange="-4 4"/>', 5.0),
        ('', None),
    ],
)  # fmt: skip
def test_the_effort_is_what_the_actuators_can_hold(actuators, expected):
    _, dynamics = efforts(actuators)
    assert dynamics.limits(0).effort == (
        NO_EFFORT_LIMIT if expected is None else pytest.approx(expected)
    )


def strained(model, rng, extreme):
    """Return MuJoCo's actuator forces at the joints, at rest, for one choice of everything."""
    data = mujoco.MjData(model)
    for joint in range(model.njnt):
        low, high = model.jnt_range[joint] if model.jnt_limited[joint] else (-3.0, 3.0)
        if model.jnt_type[joint] in (2, 3):
            pick = rng.choice([low, high]) if extreme else rng.uniform(low, high)
            data.qpos[model.jnt_qposadr[joint]] = pick
    for actuator in range(model.nu):
        low, high = (
            model.actuator_ctrlrange[actuator]
            if model.actuator_ctrllimited[actuator]
            else (-50.0, 50.0)
        )
        value = rng.choice([low, high]) if extreme else rng.uniform(low, high)
        data.ctrl[actuator] = value
        if model.actuator_actnum[actuator] == 1:
            act = model.actuator_actadr[actuator]
            if model.actuator_actlimited[actuator]:
                low, high = model.actuator_actrange[actuator]
                value = rng.choice([low, high]) if extreme else rng.uniform(low, high)
            data.act[act] = value
    mujoco.mj_forward(model, data)
    return data.qfrc_actuator.copy()


@pytest.mark.parametrize('name', FOREIGN)
def test_no_control_exceeds_the_effort_limit_and_some_reach_it(name):
    model, prefix, _, _ = loaded(name)
    world = WorldModel(model, [prefix])
    dynamics, rng = JointDynamics(world, 10.0), np.random.default_rng(5)
    # What moves several joints at once through space has no limit at one of them.
    spatial = any(
        actuator.transmission not in ('joint', 'jointinparent', 'tendon')
        or (actuator.tendon_id >= 0 and not world.tendons[actuator.tendon_id].is_fixed)
        for actuator in world.actuators
    )
    seen = np.zeros(model.nv)
    for index in range(200):
        seen = np.maximum(seen, np.abs(strained(model, rng, index % 2)))
    known = 0
    for joint in world.joints:
        if not joint.is_scalar:
            continue
        effort = dynamics.limits(joint.id).effort
        most = seen[joint.dof_address]
        if effort == NO_EFFORT_LIMIT:
            continue
        known += 1
        assert spatial or most <= effort * (1 + 1e-9) + 1e-12, joint.compiled
        assert most >= 0.5 * effort or math.isclose(effort, 0.0), joint.compiled
    assert known or not any(actuator.joint_id >= 0 for actuator in world.actuators)
