# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""hello_ok tells what the page promises, as it is now."""

import json

from dispatching import dispatch
import mujoco
import pytest

from urlab_ros_bridge.sim.streams.handshake import actuator_kind
from urlab_ros_bridge.wire.encoding import codec


def model_of(reply, tmp_path):
    path = tmp_path / 'model.mjb'
    path.write_bytes(reply['mjb'])
    return mujoco.MjModel.from_binary_path(str(path))


def test_every_field_of_the_page_is_there(rig):
    reply = rig(world='quadruped').ask('hello')
    assert reply['op'] == 'hello_ok' and reply['manager_present'] is True
    assert reply['mujoco_version'] == mujoco.__version__
    assert reply['mujoco_version_int'] == mujoco.mj_version()
    assert reply['urlab_version'].startswith('urlab/') and reply['mjb_size'] == len(reply['mjb'])
    assert isinstance(reply['shm_session_dir'], str) and set(reply['global_cameras']) == {
        'overview'
    }
    (robot,) = reply['articulations']
    assert robot['prefix'] == robot['actor_id'] == 'quadruped'
    assert robot['default_control_mode'] == 'ue_controller'
    assert robot['controller']['kind'] == 'pd'
    assert set(robot['controller']['params']) == set(robot['controller']['schema'])
    assert set(robot['original_names']) == {'actuators', 'joints', 'sensors', 'bodies'}
    assert len(robot['actuator_types']) == 12


def test_entities_point_into_the_model(rig, tmp_path):
    reply = rig().ask('hello')
    model = model_of(reply, tmp_path)
    pallet, target = reply['entities']['pallet'], reply['entities']['target']
    assert model.body(pallet['id']).name == 'pallet' and pallet['has_free_base'] is True
    joint = model.joint(pallet['free_joint_id'])
    assert joint.name == pallet['free_joint']
    assert joint.qposadr[0] == pallet['qpos_offset'] and joint.dofadr[0] == pallet['qvel_offset']
    assert target == {'id': model.body('target').id, 'has_free_base': False}
    names = {model.joint(i).name for i in range(model.njnt)} - {pallet['free_joint']}
    assert all(name.startswith('rover_') for name in names)


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


def test_meta_answers_in_the_encoding_of_the_session_that_asks(rig):
    server = rig()
    json_session = json.loads(
        dispatch(server.dispatcher, codec.pack({'op': 'hello', 'encoding': 'json'}))
    )['session_id']
    for session, is_json in ((json_session, True), (server.session_id, False), (None, True)):
        frame = dispatch(server.dispatcher, codec.pack({'op': 'meta', 'session_id': session}))
        assert (frame[:1] == b'{') is is_json
        assert codec.unpack(frame)['op'] == 'meta_ok'


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
