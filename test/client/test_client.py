# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Each method sends the fields of the page and reads the reply's."""

from bundled_server import ports_of
from bundled_server import running_server
from everything import write_world
import numpy as np
import pytest
from stock_replies import floats
from stock_replies import step_ok

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.client.errors import ExtensionMissing
from urlab_ros_bridge.client.ops import WallAge
from urlab_ros_bridge.client.replies.ops import ModeChange
from urlab_ros_bridge.testing import FakeRobot
from urlab_ros_bridge.testing import FakeServer
from urlab_ros_bridge.wire.errors import UnknownName
from urlab_ros_bridge.wire.ops import EDITOR_ONLY
from urlab_ros_bridge.wire.ops import OPS


@pytest.fixture(scope='module')
def server():
    robots = [FakeRobot('rover'), FakeRobot('quad')]
    with FakeServer(robots, extensions=(*FakeServer.EXTENSIONS, 'step_while_paused')) as server:
        server.answer('step', floats(step_ok()))
        yield server


@pytest.fixture(scope='module')
def client(server):
    with Client(rpc_port=server.ports['rpc']) as client:
        yield client


def test_every_runtime_op_has_a_method():
    editing = {op.namespace for op in OPS.values() if op.category == EDITOR_ONLY}
    for op in OPS.values():
        assert hasattr(Client, op.name) is (op.namespace not in editing), op.name


def test_step_sends_controls_of_several_articulations(server, client):
    client.step(
        10,
        {'rover': np.array([0.5, 1], np.float32), 'quad': (1, 2)},
        {'rover': {'left': 3.0}},
        'minimal',
        True,
        control_mode='raw',
        xfrc_applied={'quad': {'foot': np.arange(6)}},
        include_cameras={'front': 'sync'},
    )
    sent = server.requests[-1]
    assert sent.pop('op') == 'step' and sent.pop('session_id') == client.handshake.session_id
    force = {'xfrc_applied': {'foot': [0, 1, 2, 3, 4, 5]}}
    assert sent.pop('per_articulation') == {
        'rover': {'ctrl': [0.5, 1.0], 'ctrl_map': {'left': 3.0}, 'control_mode': 'raw'},
        'quad': {'ctrl': [1.0, 2.0], 'control_mode': 'raw', **force},
    }
    options = {'n_steps': 10, 'observations': 'minimal', 'while_paused': True}
    assert sent == {**options, 'include_cameras': {'front': 'sync'}}


def test_a_mistyped_prefix_is_refused_before_sending(server, client):
    before = len(server.requests)
    for field in ('ctrl', 'ctrl_map', 'control_mode', 'xfrc_applied'):
        with pytest.raises(UnknownName, match=r'rovr.*rover, quad'):
            client.step(1, **{field: {'rovr': {}}})
    with pytest.raises(UnknownName):
        client.reset(per_articulation_qpos={'rovr': {'left': 0.1}})
    with pytest.raises(UnknownName, match='rover, quad'):
        client.step(ctrl=[1.0])  # of which robot?
    assert len(server.requests) == before


# Extension -> a call that needs it.
NEEDS_EXTENSION = {
    'keep_time': lambda client: client.reset(keep_time=True),
    'wall_timeout': lambda client: client.set_twist('rover', wall=WallAge(1.0)),
    'step_topics': lambda client: client.step(topics=('rover/joint/',)),
    'step_twist': lambda client: client.step(twists={'rover': {'linear': [1.0]}}),
    'push_by_joint': lambda client: client.push_state(0.0, {'left': 1.0}, {}),
    'forward_observations': lambda client: client.forward('full'),
    'recording_overwrite': lambda client: client.recording_save(),
}


def test_an_argument_that_a_stock_server_would_ignore_is_refused_by_name():
    with (
        FakeServer('rover', extensions=()) as stock,
        Client(rpc_port=stock.ports['rpc']) as client,
    ):
        before = len(stock.requests)
        for extension, call in NEEDS_EXTENSION.items():
            with pytest.raises(ExtensionMissing, match=f"'{extension}'"):
                call(client)
        assert len(stock.requests) == before


@pytest.fixture(scope='module')
def served(tmp_path_factory):
    """Return a client of the bundled server, which steps a world with everything."""
    folder = tmp_path_factory.mktemp('world')
    options = {'model': write_world(folder), 'data_dir': folder, 'cameras': 'off'}
    with (
        running_server(paused=True, **options) as server,
        Client(**ports_of(server), shared=True) as client,
    ):
        assert client.set_mode('direct') == ModeChange('live', 'direct')
        yield client


def test_settings_and_queries(served):
    assert served.set_sim_speed(50) == 50.0 and served.set_paused(False) is False
    assert served.set_control_source('zmq', 'rover') == 'articulation'
    assert served.configure_controller('leg', {'default_kp': 80})['default_kp'] == 80
    assert served.set_sim_options()['gravity'] == [0, 0, -9.81]
    written = served.set_qpos('arm', np.array([0.1, 0, 0, 0]), 'actor_name')
    assert written.qpos.tolist() == [0.1, 0, 0, 0] and not written.free_base_shortcut
    assert served.forward('full').articulations['arm'].qpos.tolist() == [0.1, 0, 0, 0]
    assert served.set_mocap_pose('mark', pos=[0, 0, 1]).pos.tolist() == [0, 0, 1]
    assert served.read_mocap_pose('mark').quat.tolist() == [1, 0, 0, 0]
    contacts = served.get_contacts(2, body1='world')
    assert contacts.truncated and {each.body1 for each in contacts.contacts} == {'world'}
    assert 'arm_folded' in {keyframe.name for keyframe in served.list_keyframes()}


def test_commands_act_in_the_world(served):
    assert served.apply_wrench('box', (0, 0, 30), duration=0.5, name='push') == ('box', 0.5)
    assert served.step(50).entities['box'].qpos[2] > 0.12
    served.pull_body('box', (0, 0, 0.1), (2, 9, 0), 0.2, wall=WallAge(9.0))
    assert served.step(50).entities['box'].qpos[1] > 0.001
    assert served.set_setpoints('arm', {'lift': 0.1, 'finger': 0.0}, timeout=0.5) == 2
    assert served.step().articulations['arm'].ctrl[0] == 0.1
    assert served.claim_control('rover', 3.0) and served.release_control('rover') is None
    assert served.e_stop() is True and served.e_stop(False) is False
    number = served.set_navigation_target('rover', 'goal', 1.0, 2.0, 0.5)
    status = served.status()
    assert [each.id for each in status.navigation_targets] == [number]
    assert (status.step, status.mode, status.paused) == (101, 'direct', False)


def test_recording_and_replay(served):
    assert served.recording_start('ep', 3600) == 'live'
    served.step(5)
    assert served.recording_stop().frame_count == 5
    assert served.recording_save('ep.json').endswith('/ep.json')
    assert served.recording_clear() is None
    assert served.replay_load('ep.json').name == 'ep'
    assert served.replay_list_sessions() == ('live', 'ep')
    served.replay_set_active('ep')
    assert served.replay_start().total_frames == 5
    served.replay_stop()
