# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Effort limits against the forces that MuJoCo computes for any control."""

import itertools

import mujoco
import pytest

from urlab_ros_bridge.model import WorldModel
from urlab_ros_bridge.ros.plan.description.dynamics import JointDynamics
from urlab_ros_bridge.ros.plan.description.dynamics import NO_EFFORT_LIMIT

JOINT = """
<mujoco><compiler angle="radian"/><worldbody><body><joint name="j" range="-1 2"/>
<geom size=".1" mass="1"/><body pos="1 0 0"><joint name="k" range="-1 1"/>
<geom size=".1" mass="1"/></body></body></worldbody>
<tendon><fixed name="t"><joint joint="j" coef=".5"/><joint joint="k" coef="-2"/></fixed></tendon>
<actuator>{}</actuator></mujoco>
"""


def modelled(actuators):
    model = mujoco.MjModel.from_xml_string(JOINT.format(actuators))
    return model, JointDynamics(WorldModel(model, ['']), 10.0).limits(0).effort


@pytest.mark.parametrize(
    'actuators',
    [
        '<motor joint="j" gear="-20" ctrlrange="-1.5 1"/>',
        '<motor joint="j" forcerange="-3 5" gear="2"/>',
        '<general joint="j" dyntype="filter" gainprm="40" ctrlrange="-1 1"/>',
        '<general joint="j" dyntype="integrator" gainprm="7" actlimited="true" actrange="-2 1"/>',
        '<position joint="j" kp="10" ctrlrange="-1 2"/>',
        '<intvelocity joint="j" kp="10" actrange="-1 3"/>',
        '<velocity joint="j" kv="3" ctrlrange="-8 8"/>',
        '<motor tendon="t" ctrlrange="-4 4" gear="3"/>',
        '<motor joint="j" ctrlrange="0 3"/><motor joint="j" gear="-1" ctrlrange="0 5"/>',
        '<motor joint="j" ctrlrange="-3 3"/><motor tendon="t" ctrlrange="-4 4"/>',
    ],
)
def test_the_effort_is_what_the_actuators_can_hold(actuators):
    model, effort = modelled(actuators)
    data = mujoco.MjData(model)
    controls = model.actuator_ctrlrange.copy()
    controls[model.actuator_ctrllimited == 0] = -50, 50
    state = model.actuator_actrange[0] if model.actuator_actlimited[0] else controls[0]
    most = 0.0
    for corner in itertools.product(*model.jnt_range, *controls, *[state] * model.na):
        data.qpos[:], data.ctrl[:] = corner[:2], corner[2 : 2 + model.nu]
        data.act[:] = corner[2 + model.nu :]
        mujoco.mj_forward(model, data)
        most = max(most, abs(data.qfrc_actuator[0]))
    assert effort == pytest.approx(most)


@pytest.mark.parametrize(
    'actuators', ['<position joint="j" kp="10"/>', '<muscle joint="j" ctrlrange="0 1"/>', '']
)
def test_without_a_limit_in_the_model_there_is_the_default(actuators):
    assert modelled(actuators)[1] == NO_EFFORT_LIMIT
