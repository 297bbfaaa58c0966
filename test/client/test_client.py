# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Each method sends the fields of the page and reads the reply's."""

import contextlib

import numpy as np
import pytest
from stock_replies import floats
from stock_replies import step_ok

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.client.editor import Editor
from urlab_ros_bridge.client.errors import ExtensionMissing
from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.client.errors import RemoteError
from urlab_ros_bridge.client.ops import WallAge
from urlab_ros_bridge.client.replies.ops import ModeChange
from urlab_ros_bridge.testing import FakeRobot
from urlab_ros_bridge.testing import FakeServer
from urlab_ros_bridge.wire.errors import UnknownName
from urlab_ros_bridge.wire.ops import EDITOR_ONLY
from urlab_ros_bridge.wire.ops import OPS

CONTACT = {'dist': -0.001, 'pos': [0, 0, 0], 'normal': [0, 0, 1], 'force': [9, 0, 0, 0, 0, 0]}
REPLIES = {
    'set_mode': {'previous_mode': 'live', 'current_mode': 'direct'},
    'set_paused': {'paused': True},
    'set_sim_speed': {'percent': 5},
    'set_control_source': {'source': 'ui', 'scope': 'articulation'},
    'set_twist': {'articulation': 'rover', 'linear': [0.4, 0, 0], 'angular': [0, 0, 0.5]},
    'set_qpos': {'target': 'robot_0', 'qpos': [1, 2], 'free_base_shortcut': False},
    'set_mocap_pose': {'body': 'target', 'pos': [0, 0, 1], 'quat': [1, 0, 0, 0]},
    'read_mocap_pose': {'body': 'target', 'pos': [0, 0, 1], 'quat': [1, 0, 0, 0]},
    'get_contacts': {'n_contacts': 1, 'truncated': True, 'contacts': [CONTACT]},
    'list_keyframes': {'keyframes': [{'name': 'home', 'time': 0}]},
    'configure_controller': {'articulation': 'rover', 'params': {'default_kp': 80}},
    'set_sim_options': {'options': {'timestep': 0.002}},
    'recording_start': {'name': 'live', 'max_duration_s': 3600},
    'recording_stop': {'name': 'live', 'frame_count': 2048, 'sim_duration_s': 4.096},
    'recording_save': {'absolute_path': '/data/ep.json'},
    'recording_clear': {},
    'replay_load': {'name': 'ep'},
    'replay_list_sessions': {'sessions': ['live', 'ep']},
    'replay_set_active': {},
    'replay_start': {'active_session': 'ep', 'total_frames': 2048},
    'replay_stop': {},
    'apply_wrench': {'body': 'box', 'until': 0.5},
    'pull_body': {},
    'set_setpoints': {'count': 2},
    'claim_control': {'owner': 'me'},
    'release_control': {},
    'e_stop': {'engaged': True},
    'set_navigation_target': {'id': 4},
    'status': {
        'mode': 'live',
        'pinned': False,
        'paused': True,
        'speed': 100,
        'real_time_factor': 0.99,
        'tick_rate': 500,
        'sim_time': {'sec': 1, 'nsec': 5},
        'step': 7,
        'cameras': 2,
        'sessions': [{'id': 'x', 'shared': True}],
        'world': 'w',
    },
}


# What a client needs for the requests below, beyond what every fake server has.
MORE = (
    'step_while_paused',
    'forward_observations',
    'recording_overwrite',
    'navigation_targets',
    'wall_timeout',
)


@pytest.fixture(scope='module')
def server():
    robots = [FakeRobot('rover'), FakeRobot('quad')]
    with FakeServer(robots, extensions=(*FakeServer.EXTENSIONS, *MORE)) as server:
        for op, reply in REPLIES.items():
            server.answer(op, floats(reply))
        for op in ('step', 'reset', 'forward'):
            server.answer(op, floats(step_ok(op=f'{op}_ok')))
        yield server


@pytest.fixture(scope='module')
def client(server):
    with Client(rpc_port=server.ports['rpc']) as client:
        yield client


def sent(server):
    """Return the fields of the last request."""
    return {
        key: value for key, value in server.requests[-1].items() if key not in ('op', 'session_id')
    }


def test_every_runtime_op_has_a_method():
    editing = {op.namespace for op in OPS.values() if op.category == EDITOR_ONLY}
    for op in OPS.values():
        home, other = (Editor, Client) if op.namespace in editing else (Client, Editor)
        assert hasattr(home, op.name) and not hasattr(other, op.name), op.name


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
    assert sent(server) == {
        'n_steps': 10,
        'observations': 'minimal',
        'while_paused': True,
        'include_cameras': {'front': 'sync'},
        'per_articulation': {
            'rover': {'ctrl': [0.5, 1.0], 'ctrl_map': {'left': 3.0}, 'control_mode': 'raw'},
            'quad': {
                'ctrl': [1.0, 2.0],
                'control_mode': 'raw',
                'xfrc_applied': {'foot': [0, 1, 2, 3, 4, 5]},
            },
        },
    }


@pytest.mark.parametrize(
    'fields',
    [
        {'ctrl': {'rovr': [0]}},
        {'ctrl_map': {'rovr': {}}},
        {'control_mode': {'rovr': 'raw'}},
        {'xfrc_applied': {'rovr': {}}},
    ],
)
def test_a_mistyped_prefix_is_refused_before_sending(server, client, fields):
    before = len(server.requests)
    with pytest.raises(UnknownName, match=r'rovr.*rover, quad'):
        client.step(1, **fields)
    with pytest.raises(UnknownName):
        client.reset(per_articulation_qpos={'rovr': {'left': 0.1}})
    assert len(server.requests) == before


# Extension -> method, its arguments, and the fields of the request that need it.
NEEDS_EXTENSION = {
    'keep_time': ('reset', {'keep_time': True}, {'keep_time': True}),
    'wall_timeout': (
        'set_twist',
        {'articulation': 'rover', 'wall': WallAge(1.0)},
        {'wall_timeout': 1.0},
    ),
    'step_topics': ('step', {'topics': ('rover/joint/',)}, {'topics': ['rover/joint/']}),
    'step_twist': (
        'step',
        {'twists': {'rover': {'linear': [1.0]}}},
        {'per_articulation': {'rover': {'twist': {'linear': [1.0]}}}},
    ),
    'push_by_joint': (
        'push_state',
        {'time': 0.0, 'qpos': {'left': 1.0}, 'qvel': {}},
        {'qpos_map': {'left': 1.0}},
    ),
    'forward_observations': ('forward', {'observations': 'full'}, {'observations': 'full'}),
    'recording_overwrite': ('recording_save', {}, {'overwrite': False}),
}


@pytest.mark.parametrize('extension', NEEDS_EXTENSION)
def test_an_argument_that_a_stock_server_would_ignore_is_refused_by_name(extension):
    method, arguments, fields = NEEDS_EXTENSION[extension]
    with (
        FakeServer('rover', extensions=()) as stock,
        Client(rpc_port=stock.ports['rpc']) as client,
    ):
        before = len(stock.requests)
        with pytest.raises(ExtensionMissing, match=f"'{extension}'"):
            getattr(client, method)(**arguments)
        assert len(stock.requests) == before
        client.handshake.extensions |= {extension}
        with contextlib.suppress(RemoteError, ProtocolError):  # it has scripts for some of them
            getattr(client, method)(**arguments)
        assert {key: stock.requests[-1].get(key) for key in fields} == fields


def test_the_small_mutators(server, client):
    assert client.set_mode('direct') == ModeChange('live', 'direct')
    assert client.set_paused(True) is True
    assert client.set_sim_speed(1) == 5.0
    assert client.set_control_source('ui', 'rover') == 'articulation'
    assert client.configure_controller('rover', {'default_kp': 80})['default_kp'] == 80
    assert client.set_sim_options(timestep=0.002) == {'timestep': 0.002}
    assert sent(server) == {'options': {'timestep': 0.002}}
    written = client.set_qpos('robot_0', np.array([1, 2]), 'actor_name')
    assert written.qpos.tolist() == [1, 2] and not written.free_base_shortcut
    assert sent(server) == {'target': 'robot_0', 'qpos': [1, 2], 'target_by': 'actor_name'}
    assert client.set_mocap_pose('target', pos=[0, 0, 1]).pos.tolist() == [0, 0, 1]
    assert sent(server) == {'body': 'target', 'pos': [0, 0, 1]}
    assert client.read_mocap_pose('target').quat.tolist() == [1, 0, 0, 0]


def test_commands(server, client):
    assert client.apply_wrench('box', (1, 0, 0), duration=0.5, name='push') == ('box', 0.5)
    assert sent(server) == {
        'body': 'box',
        'force': [1.0, 0.0, 0.0],
        'torque': [0.0, 0.0, 0.0],
        'duration': 0.5,
        'frame': 'world',
        'name': 'push',
    }
    client.pull_body('box', (0, 0, 0.1), (1, 0, 0), 0.2, wall=WallAge(1.0))
    assert sent(server).items() >= {'target': [1.0, 0.0, 0.0], 'wall_timeout': 1.0}.items()
    assert client.set_setpoints('rover', {'left': 1.0, 'right': 2.0}, timeout=0.5) == 2
    assert sent(server)['timeout'] == 0.5
    assert client.claim_control('rover', 3.0) == 'me' and sent(server)['ttl_s'] == 3.0
    client.release_control('rover')
    assert client.e_stop() is True and sent(server) == {'engaged': True}
    assert client.set_navigation_target('rover', 'goal', 1.0, 2.0, 0.5) == 4
    assert sent(server)['kind'] == 'goal'
    with pytest.raises(UnknownName, match='rover, quad'):
        client.step(ctrl=[1.0])  # of which robot?


def test_queries(server, client):
    contacts = client.get_contacts(8, body1='world')
    assert sent(server) == {'max_contacts': 8, 'filter': {'body1': 'world'}}
    assert contacts.truncated and contacts.contacts[0].force[0] == 9
    assert client.list_keyframes()[0].name == 'home'
    assert client.forward('full').articulations['rover'].qpos.shape == (9,)
    status = client.status()
    assert (status.step, status.cameras, status.paused) == (7, 2, True)
    assert status.sim_time_ns == 1_000_000_005 and status.sessions[0]['shared'] is True


def test_recording_and_replay(server, client):
    assert client.recording_start('ep', 3600) == 'live'
    assert client.recording_stop().frame_count == 2048
    assert client.recording_save('ep.json') == '/data/ep.json'
    assert client.recording_clear() is None
    assert client.replay_load('ep.json').name == 'ep'
    assert client.replay_list_sessions() == ('live', 'ep')
    client.replay_set_active('ep')
    assert sent(server) == {'name': 'ep'}
    assert client.replay_start().total_frames == 2048
    client.replay_stop()
