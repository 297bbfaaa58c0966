# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""hello_ok tells what the page promises, as it is now."""

import mujoco
import pytest

from urlab_ros_bridge.sim.streams.handshake import actuator_kind


def model_of(reply, tmp_path):
    path = tmp_path / 'model.mjb'
    path.write_bytes(reply['mjb'])
    return mujoco.MjModel.from_binary_path(str(path))


def test_a_later_hello_tells_of_changed_options_and_gains(rig, tmp_path):
    server = rig(world='quadruped')
    before = server.ask('hello', shared=True)
    assert server.ask('hello', shared=True)['mjb'] == before['mjb']
    server.ask('set_sim_options', options={'timestep': 0.004, 'gravity': [0, 0, -1.62]})
    server.ask('configure_controller', articulation='quadruped', params={'default_kv': 6.5})
    after = server.ask('hello', shared=True)
    assert after['timestep'] == 0.004
    assert model_of(after, tmp_path).opt.gravity[2] == pytest.approx(-1.62)
    assert model_of(before, tmp_path).opt.gravity[2] == pytest.approx(-9.81)
    assert after['articulations'][0]['controller']['params']['default_kv'] == 6.5


KINDS = {
    'motor': '<motor name="a" joint="j"/>',
    'position': '<position name="a" joint="j" kp="7" kv="0.5"/>',
    'velocity': '<velocity name="a" joint="j" kv="3"/>',
    'intvelocity': '<intvelocity name="a" joint="j" kp="7" actrange="-1 1"/>',
    'damper': '<damper name="a" joint="j" kv="2" ctrlrange="0 1"/>',
    'cylinder': '<cylinder name="a" joint="j"/>',
    'muscle': '<muscle name="a" joint="j" lengthrange="0.1 1"/>',
    'adhesion': '<adhesion name="a" body="b" ctrlrange="0 1" gain="2"/>',
}


@pytest.mark.parametrize('kind', KINDS)
def test_the_authored_kind_of_an_actuator_is_found_again(kind):
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body name="b"><joint name="j" axis="0 1 0"/><geom size="0.1"/></body>'
        f'</worldbody><actuator>{KINDS[kind]}</actuator></mujoco>'
    )
    assert actuator_kind(model, 0) == kind
