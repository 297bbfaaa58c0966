# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The session of a page, in front of a fake page."""

from contextlib import closing
from contextlib import contextmanager
from itertools import count
import json
from pathlib import Path
import struct
from types import SimpleNamespace

from bundled_server import port_of
from bundled_server import running_server
import mujoco
import numpy as np
import pytest
from unstable_world import PREFIX
from unstable_world import write_unstable_world
from waiting import wait_until

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.gateways.simulation.link import SimulationLink
from urlab_ros_bridge.gateways.virtual_field.errors import BadMessage
from urlab_ros_bridge.gateways.virtual_field.page import messages
from urlab_ros_bridge.gateways.virtual_field.page.control import ControlLock
from urlab_ros_bridge.gateways.virtual_field.page.control import IDLE_SECONDS
from urlab_ros_bridge.gateways.virtual_field.page.page_world import PageUser
from urlab_ros_bridge.gateways.virtual_field.page.page_world import PageWorld
from urlab_ros_bridge.gateways.virtual_field.page.requests import REQUESTS
from urlab_ros_bridge.gateways.virtual_field.page.session import PageSession
from urlab_ros_bridge.gateways.virtual_field.page.session import WINDOW
from urlab_ros_bridge.gateways.virtual_field.protocol.publishing import AddMesh
from urlab_ros_bridge.gateways.virtual_field.protocol.publishing import MESH
from urlab_ros_bridge.gateways.virtual_field.protocol.publishing import Remove
from urlab_ros_bridge.gateways.virtual_field.protocol.publishing import SetPoints
from urlab_ros_bridge.gateways.virtual_field.scene.live_scene import LiveScene
from urlab_ros_bridge.gateways.virtual_field.scene.publications import Publications
from urlab_ros_bridge.wire.ops import STATE_PORT


@contextmanager
def page_world(server):
    link = SimulationLink('127.0.0.1', port_of(server), 'test')
    link.connect(30.0)
    served = LiveScene(link, '127.0.0.1', STATE_PORT)
    with closing(link), closing(served), closing(PageWorld(served)) as world:
        yield world


@pytest.fixture(scope='module')
def world():
    with running_server(world='fleet', cameras='off') as server, page_world(server) as world:
        yield world


class FakePage:
    """A page that keeps what the session sends."""

    def __init__(self, world, name='spectator_1'):
        self.sent = []
        self.numbers = count(1000)  # of requests
        self.world = world
        self.publications = Publications()
        user = PageUser(name, 'Chrome', False)
        self.session = PageSession(world, self.publications, user, self)
        self.session.open()

    def close(self):
        self.session.close()

    def send(self, message):
        self.sent.append(bytes(message))

    def offer(self, message, key):
        self.send(message)

    def texts(self, kind):
        found = [json.loads(m[1:]) for m in self.sent if m[0] == messages.TEXT]
        return [text for text in found if text['type'] == kind]

    def states(self):
        return [message for message in self.sent if message[0] == messages.STATE]

    def ask(self, op, **fields):
        number = next(self.numbers)
        content = {'op': op, 'id': number, **fields}
        self.session.receive(bytes([messages.TEXT]) + json.dumps(content).encode())
        return wait_until(
            lambda: next((t for t in self.texts('answer') if t['id'] == number), None)
        )

    def frame(self):
        """Return a frame that was not there before."""
        before = self.world.scene.newest

        def newer():
            newest = self.world.scene.poll()
            return None if newest is before else newest

        return wait_until(newer)


@pytest.fixture
def page(world, keep):
    return keep(FakePage(world))


@pytest.fixture
def other(world, keep):
    return keep(FakePage(world, 'spectator_2'))


def test_one_page_at_a_time_commands_until_it_releases_control(page, other, world):
    assert 'error' not in page.ask('pause', paused=False)
    assert 'spectator_1 has control' in other.ask('reset')['error']
    assert 'error' not in other.ask('replay_list')  # reading needs none
    assert other.ask('control_request')['requests'] == ['spectator_2']
    status = wait_until(
        lambda: next((t for t in page.texts('status') if t['control']['requests']), None)
    )
    assert status['control'] == {'holder': 'spectator_1', 'requests': ['spectator_2']}
    page.ask('control_release')
    assert 'error' not in other.ask('reset')
    assert page.ask('control_take')['holder'] == 'spectator_1'
    assert 'spectator_1' in other.ask('reset')['error']
    page.close()
    assert world.control.describe()['holder'] == ''


def test_any_page_can_e_stop_and_the_one_in_control_releases(page, other, world):
    drive = {'robot': 'rover_1', 'twist': [0.3, 0.0, 0.0]}
    try:
        assert 'error' not in page.ask('drive', **drive)
        assert other.ask('e_stop')['engaged'] is True
        for shown in (page, other):
            assert shown.texts('status')[-1]['e_stop'] is True, 'at once'
        assert 'e-stop' in page.ask('drive', **drive)['error']
        assert 'error' not in page.ask('drive', robot='rover_1', twist=[0.0, 0.0, 0.0])
        assert 'spectator_1 has control' in other.ask('e_stop', engaged=False)['error']
        assert page.ask('e_stop', engaged=False)['engaged'] is False
        world.link.queries.e_stop(True)  # another client
        wait_until(lambda: page.texts('status')[-1]['e_stop'])
        assert page.ask('e_stop', engaged=False)['engaged'] is False
        assert 'error' not in page.ask('drive', **drive)
    finally:
        world.link.queries.e_stop(False)


def test_with_a_server_without_an_e_stop_pages_stop_bases_and_refuse(page, world, monkeypatch):
    extensions = world.link.handshake.extensions - {'e_stop'}
    monkeypatch.setattr(world.link, 'handshake', SimpleNamespace(
        articulations=world.link.handshake.articulations, extensions=extensions
    ))  # fmt: skip
    stopped = []
    monkeypatch.setattr(world.link, 'set_twist', lambda *command: stopped.append(command[:2]))
    page.ask('e_stop')
    assert {('rover_1', (0, 0, 0)), ('rover_2', (0, 0, 0))} <= set(stopped)
    assert 'e-stop' in page.ask('setpoint', robot='rover_1', actuator='x', value=1.0)['error']
    assert page.texts('status')[-1]['e_stop'] is True
    assert page.ask('e_stop', engaged=False)['engaged'] is False


def test_control_of_a_page_that_does_nothing_is_free_after_a_while():
    now = [0.0]
    control = ControlLock(lambda: now[0])
    control.use('one')
    now[0] = IDLE_SECONDS - 0.1
    with pytest.raises(BadMessage, match='one'):
        control.use('other')
    now[0] = IDLE_SECONDS
    control.use('other')
    assert control.describe()['holder'] == 'other'
    now[0] = 2 * IDLE_SECONDS
    assert control.describe()['holder'] == ''


def test_the_world_and_its_states_are_those_of_mujoco_and_of_the_snapshot(page, world):
    (description,) = page.texts('world')
    model = world.scene.handshake.model
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    for body in description['bodies']:
        x, y, z = data.xpos[body['id']]
        if 'pose' in body:  # it stands still
            np.testing.assert_allclose(body['pose'][:3], [x, z, -y], atol=1e-5)
        assert ('pose' not in body) == (body['id'] in description['moving'])
    wanted = [c for c in description['channels'] if c['kind'] in ('position', 'sensor')][:40]
    page.ask('watch', channels=[channel['id'] for channel in wanted])
    frame = page.frame()
    page.session.tick(frame)
    (state,) = page.states()  # laid out as web/js/connection.js reads it
    assert struct.unpack_from('<dQ', state, 8) == (frame.time, frame.step)
    width = sum(channel['width'] for channel in wanted)
    assert struct.unpack_from('<II', state, 24) == (len(world.moving), width)
    poses = np.frombuffer(state, '<f4', len(world.moving) * 7, 32).reshape(-1, 7)
    x, y, z = frame.body_positions[world.moving].T
    np.testing.assert_allclose(poses[:, :3], np.column_stack([x, z, -y]), atol=1e-5)
    values, at = np.frombuffer(state, '<f4', -1, 32 + len(world.moving) * 28), 0
    assert len(values) == width
    for channel in wanted:
        got, at = values[at : at + channel['width']], at + channel['width']
        if channel['kind'] == 'position':
            joint = model.joint(f'{channel["robot"]}_{channel["name"]}')
            expected = frame.qpos[joint.qposadr[0]]
        else:
            expected = frame.seen.articulations[channel['robot']].sensors[channel['name']]
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


def test_a_page_that_does_not_draw_gets_one_window_of_states_until_it_acknowledges(page):
    for _ in range(2 * WINDOW):
        frame = page.frame()
        page.session.tick(frame)
        page.session.tick(frame)  # is sent once
    assert len(page.states()) == WINDOW
    newest = struct.unpack_from('<I', page.states()[-1], 4)[0]
    page.session.receive(struct.pack('<B3xI', messages.ACK, newest))
    page.session.tick(page.frame())
    assert len(page.states()) == WINDOW + 1


def test_publications_include_the_data_of_each_mesh_once(page):
    for change, meshes, assets in (
        (AddMesh('m', 'data:it'), {'m'}, {'m': 'data:it'}),
        (SetPoints('p', [[1.0, 0.0, 0.0]], 0.01, True), {'m'}, {}),
        (AddMesh('m', 'data:other'), {'m'}, {'m': 'data:other'}),
        (Remove(MESH, 'm'), set(), {}),
    ):
        page.publications.apply('me', change)
        page.session.tick(page.frame())
        shown = page.texts('published')[-1]
        assert (shown['meshes'].keys(), shown['assets']) == (meshes, assets)
    assert shown['overlays']['p']['points'] == [[1.0, 0.0, 0.0]]


def test_a_recording_is_saved_without_delaying_the_e_stop(page, world, monkeypatch):
    stopped = []
    save = Client.recording_save

    def stop_and_save(client, *args, **kwargs):
        # Requests of one session are answered one after the other.
        assert client not in (world.link.commands, world.link.queries)
        stopped.append(page.ask('e_stop')['engaged'])
        return save(client, *args, **kwargs)

    monkeypatch.setattr(Client, 'recording_save', stop_and_save)
    page.ask('record_start')
    queries = world.link.queries
    begin = queries.status().step
    wait_until(lambda: queries.status().step > begin)
    assert page.ask('record_stop')['frames']
    path = Path(page.ask('record_save')['path'])
    assert stopped == [True]
    page.ask('e_stop', engaged=False)
    piece = page.ask('recording_read', name=path.name, offset=0)
    assert path.read_text().startswith(piece['text']) and piece['bytes'] == path.stat().st_size


def test_a_drive_moves_the_robot_and_ends_by_itself(page, world):
    (description,) = page.texts('world')
    robot = next(robot for robot in description['robots'] if robot['drive'])
    base = robot['base']
    start = page.frame().body_positions[base].copy()
    page.ask('drive', robot=robot['prefix'], twist=[0.5, 0, 0])
    wait_until(lambda: np.linalg.norm(page.frame().body_positions[base] - start) > 0.02)

    def stands():
        one = other = page.frame()
        while other.time < one.time + 0.1:
            other = page.frame()
        moved = np.linalg.norm(other.body_positions[base] - one.body_positions[base])
        return moved < 1e-3 or None

    wait_until(stands)
    # It went no further than the command lasts.
    assert np.linalg.norm(page.frame().body_positions[base] - start) < 1.0


@pytest.mark.parametrize('digits', ['1' + '0' * 400, '-1e308'])
def test_no_number_is_too_long_for_a_request(page, digits):
    for op in [*REQUESTS, 'watch', 'cameras', 'contacts']:
        for place in ('"id": %s', '"twist": [%s, 0, 0], "robot": "rover_1"'):
            content = f'{{"op": "{op}", {place % digits}}}'
            page.session.receive(bytes([messages.TEXT]) + content.encode())
        for name in ('count', 'percent', 'body', 'tip', 'channels', 'force', 'value', 'position'):
            content = f'{{"op": "{op}", "id": 7, "{name}": {digits}, "while_paused": 1}}'
            page.session.receive(bytes([messages.TEXT]) + content.encode())
    page.ask('mode', mode='live')
    page.ask('pause', paused=False)
    answers = [text.get('error', '') for text in page.texts('answer')]
    assert len(answers) > len(REQUESTS)
    assert not any('gateway failed' in answer for answer in answers)


def test_a_pushed_body_settles_at_its_target_and_is_let_go(page, world):
    (description,) = page.texts('world')
    body = next(entity['body'] for entity in description['entities'] if entity['free'])

    def place():
        return page.frame().body_positions[body]

    goal = place() + np.array([0.3, 0.0, 0.1])
    x, y, z = goal
    target, last = {'body': body, 'point': [0, 0, 0], 'target': [x, z, -y]}, -1.0

    def is_there():
        nonlocal last
        frame = page.frame()
        if frame.time - last > 0.25:  # as of a slow page
            assert 'error' not in page.ask('push', **target)
            last = frame.time
        return np.linalg.norm(frame.body_positions[body] - goal) < 0.02

    wait_until(is_there)
    page.ask('push', body=body)
    wait_until(lambda: place()[2] < z - 0.05)


@pytest.mark.parametrize(
    ('op', 'fields', 'value'),
    [
        ('fly', {}, 'fly'),
        ('cameras', {'names': ['nowhere']}, 'nowhere'),
        ('watch', {'channels': [99999]}, '99999'),
        ('drive', {'robot': 'ghost', 'twist': [1, 0, 0]}, 'ghost'),
        ('step', {'count': 0}, 'count'),
        ('push', {'body': 1, 'point': [0, 0, 0], 'target': [0, 1, 0]}, 'shelf'),
        ('navigate', {'robot': 'rover_1', 'kind': 'goal', 'position': [0, 0, 0], 'yaw': 0},
         'no ROS bridge'),
        ('steer', {'tip': 0}, 'tip'),
        ('spawn', {'model': 'ghost', 'position': [0, 0, 0]}, 'ghost'),
        ('setpoint', {'robot': 'rover_1', 'actuator': 'nose', 'value': 0}, 'nose'),
        ('mode', {'mode': 'sideways'}, 'sideways'),
    ],
)  # fmt: skip
def test_a_refusal_names_the_invalid_value(page, op, fields, value):
    assert value in page.ask(op, **fields)['error']


def test_an_unstable_simulation_is_shown_until_the_next_reset(tmp_path):
    with (
        running_server(model=write_unstable_world(tmp_path), cameras='off') as server,
        page_world(server) as world,
        closing(FakePage(world)) as page,
    ):
        page.ask('setpoint', robot=PREFIX, actuator='hinge', value=0.5)
        wait_until(lambda: any(status['divergence'] for status in page.texts('status')))
        page.ask('reset')
        wait_until(lambda: not page.texts('status')[-1]['divergence'])
