# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Every message of the protocol and every error, over a socket, with two real arms."""

import base64
import json
from threading import enumerate as enumerate_threads

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from waiting import wait_until
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from test.gateways.running import field_at
from test.gateways.virtual_field.field_client import FieldClient
from test.gateways.virtual_field.field_client import PATIENCE
from test.gateways.virtual_field.protocol.test_publishing import glb
from urlab_ros_bridge.gateways.virtual_field.errors import NoSimulation
from urlab_ros_bridge.gateways.virtual_field.page import messages
from urlab_ros_bridge.gateways.virtual_field.page.files import PageFiles
from urlab_ros_bridge.gateways.virtual_field.page.requests import REQUESTS
from urlab_ros_bridge.gateways.virtual_field.protocol.foreign_gltf import rewrite_gltf
from urlab_ros_bridge.gateways.virtual_field.serving import server

ARM_KEYS = {
    'arm_id', 'owner_user_id', 'base', 'tip', 'centerline', 'radii', 'element_lengths',
    'directors', 'contact_points',
}  # fmt: skip
SCENE_KEYS = {
    'timestamp', 'arms', 'scenery', 'user_arms', 'meshes', 'overlay_points', 'spheres', 'haptics',
}  # fmt: skip
BOX = '<mujoco><worldbody><body name="newcomer"><geom size="0.1"/></body></worldbody></mujoco>'
GLB = base64.b64encode(rewrite_gltf(glb(), 'model/gltf-binary')).decode()


def world_threads():
    """Return how many threads belong to worlds of gateways."""
    names = [thread.name for thread in enumerate_threads()]
    return names.count('webxr-updates') + names.count('webxr-steering')


def test_the_envelope_is_checked_before_the_hello_and_no_error_ends_anything(join):
    client = join(None)
    with pytest.raises(TimeoutError):  # nothing is sent before the hello
        client.socket.recv(timeout=0.3)
    for text, reason in (
        ('[]', 'message must contain version, type, and payload'),
        ('{"version": 2, "type": "x", "payload": {}}', 'unsupported protocol version 2'),
        ('{"version": 1, "type": "x", "payload": {}}', 'hello required first'),
        (' ' * 70_000, 'only publishers may exceed'),
        ('{"version": 1, "type": "hello", "payload": {"role": "admiral"}}', "'admiral'"),
    ):
        client.socket.send(text)
        assert reason in client.error()
    hello = {'role': 'spectator', 'extensions': ['binary']}
    whole = {'version': 1, 'type': 'hello', 'payload': hello}
    client.socket.send(json.dumps(whole).encode())  # a binary frame is taken too
    assert client.error().startswith('this gateway has no page')
    assert client.hello('spectator')['user_id'].startswith('spectator_')
    client.send('xr_input')
    assert client.error() == 'xr_input unsupported for spectator role'
    client.scene()


def test_a_spectator_sees_the_arms(join, bimanual):
    client = join('spectator')
    assert client.ack.keys() == {
        'protocol', 'server_time', 'role', 'user_id', 'arm_ids', 'controlled_arm_ids',
    }  # fmt: skip
    assert client.manifest == {'user_id': client.ack['user_id'], 'arms': {}, 'scenery': {}}
    scene = client.scene()
    assert scene.keys() == SCENE_KEYS
    assert scene['arms'].keys() == {'bimanual/left', 'bimanual/right'}
    for arm_id, arm in scene['arms'].items():
        assert arm.keys() == ARM_KEYS
        assert arm['arm_id'] == arm_id and arm['owner_user_id'] is None
        assert arm['base']['translation'] == arm['centerline'][0]
        assert arm['tip']['translation'] == arm['centerline'][-1]
        turn = Rotation.from_quat(arm['tip']['rotation_xyzw']).as_matrix()
        np.testing.assert_allclose(turn.T, arm['directors'][-1], atol=1e-4)
    # y is up: the table stands on the floor.
    assert 0.5 < scene['arms']['bimanual/left']['base']['translation'][1] < 1.5
    later = client.scene(lambda seen: seen['timestamp'] > scene['timestamp'] + 0.1)
    assert later['timestamp'] > scene['timestamp']


def test_meshes_are_sent_once_and_placed_as_in_mujoco(join, field):
    client = join('spectator')
    last = client.scene(lambda scene: scene['timestamp'] > 0)
    last = client.scene(lambda scene: scene['timestamp'] > last['timestamp'] + 0.2)
    assert client.assets and set(client.assets.values()) == {1}
    assert 'sim/bimanual_left_hand' in last['meshes'] and 'sim/world' in last['meshes']
    assert set(last['spheres']) == {'sim/ball'}
    scene = field.world.scene
    body = next(b.id for b in scene.world.bodies if b.compiled == 'tray')
    x, y, z = scene.newest.body_positions[body].tolist()
    tray = last['meshes']['sim/tray']
    assert tray['translation'] == pytest.approx([x, z, -y], abs=1e-3)
    assert tray['static_asset'] is True and tray['scale'] == [1.0, 1.0, 1.0]


def test_the_one_message_of_the_stock_page_is_enough_for_it_to_draw_and_reset_two_arms(join):
    page = join(None)
    hello = {'client': 'sparc-webxr', 'role': 'vr_client', 'requested_arm_count': 2}
    page.send('hello', {**hello, 'character_mode': 'two-cr'})
    # It takes nothing for granted before these two, in this order.
    (kind, ack), (second, manifest) = page.receive(), page.receive()
    assert (kind, second) == ('hello_ack', 'asset_manifest')
    assert ack.keys() == {
        'protocol', 'server_time', 'role', 'character_mode', 'user_id', 'arm_ids',
        'controlled_arm_ids',
    }  # fmt: skip
    name = ack['user_id']
    ids = [f'{name}_arm_0', f'{name}_arm_1']
    assert (ack['role'], ack['character_mode']) == ('vr_client', 'two-cr')
    assert ack['arm_ids'] == ack['controlled_arm_ids'] == ids
    assert manifest['arms'] == {ids[0]: {'color': '#ff6b6b'}, ids[1]: {'color': '#74c0fc'}}
    scene = page.scene()
    assert scene['user_arms'] == {name: ids} and scene['arms'].keys() == set(ids)
    assert [hint['arm_id'] for hint in scene['haptics']] == ids
    for arm in scene['arms'].values():
        line, radii = np.array(arm['centerline']), np.array(arm['radii'])
        # Segments shorter than a micrometre are left out, thinner than a millimetre thickened.
        assert len(line) >= 2 and (np.linalg.norm(np.diff(line, axis=0), axis=1) > 1e-6).all()
        assert len(radii) == len(line) - 1 and (radii > 1e-3).all()
        assert np.shape(arm['directors']) == (len(line) - 1, 3, 3)
        assert len(arm['element_lengths']) == len(line) - 1
    page.send('xr_input')
    assert page.error() == 'timestamp is missing'
    page.send('heartbeat')
    page.send('reset')
    again = page.answer('hello_ack')
    assert again == {'reset': True, 'user_id': name, 'arm_ids': ids, 'controlled_arm_ids': ids}
    page.send('add_mesh')
    assert page.error() == 'unsupported type: add_mesh'
    page.close()


def test_users_share_nothing_and_free_what_they_leave(join, field):
    one = join('vr_client', character_mode='bimanual', requested_arm_count=1, user_id='one')
    assert one.ack['user_id'] == 'one'
    assert one.ack['controlled_arm_ids'] == ['one_arm_0', 'one_arm_0']
    other = join('vr_client', character_mode='bimanual')
    assert len(other.ack['arm_ids']) == 1
    third = join(None)
    hello = {'role': 'vr_client', 'character_mode': 'two-cr'}
    third.send('hello', hello)
    assert third.error().startswith('no free arm: all 2 arms')
    third.send('hello', {**hello, 'user_id': 'one'})
    assert third.error().startswith("user_id 'one' is in use")
    third.send('hello', {**hello, 'character_mode': 'spirobs'})
    assert third.error().startswith('vr_client requires a backend-supported character_mode')
    third.hello('spectator')
    scene = third.scene(lambda seen: len(seen['user_arms']) == 2)
    assert {arm['owner_user_id'] for arm in scene['arms'].values()} == {
        'one', other.ack['user_id'],
    }  # fmt: skip
    # A second hello ends what was before.
    one.hello('spectator', user_id='one')
    third.scene(lambda seen: set(seen['user_arms']) == {other.ack['user_id']})
    other.close()
    third.scene(lambda seen: not seen['user_arms'])


def test_a_publisher_fills_the_scene(join):
    watcher, publisher = join('spectator'), join('publisher', owner_id='me')

    def publish(kind, status, ids, **payload):
        publisher.send(kind, {**ids, **payload})
        ack = 'mesh_ack' if 'mesh' in kind else 'overlay_ack'
        assert publisher.answer(ack) == {'owner_id': 'me', 'status': status, **ids}

    publisher.send('xr_input')
    assert publisher.error() == 'unsupported publisher message type: xr_input'
    assert publisher.ack.keys() == {'protocol', 'server_time', 'role', 'owner_id'}
    assert publisher.ack['owner_id'] == 'me'
    mesh, cloud = {'mesh_id': 'm'}, {'overlay_id': 'p'}
    publish('add_mesh', 'added', mesh, mesh_data_b64=GLB, translation=[1, 2, 3])
    assert watcher.scene(lambda seen: 'm' in seen['meshes'])['meshes']['m'] == {
        'mesh_id': 'm', 'owner_id': 'me', 'translation': [1, 2, 3],
        'asset_uri': f'data:model/gltf-binary;base64,{GLB}',
        'rotation_xyzw': [0, 0, 0, 1], 'scale': [1, 1, 1], 'visible': True, 'static_asset': False,
    }  # fmt: skip
    publish('update_mesh_transform', 'updated', mesh, visible=False)
    shown = watcher.scene(lambda seen: not seen['meshes']['m']['visible'])['meshes']['m']
    assert shown['translation'] == [1, 2, 3] and 'asset_uri' not in shown
    points = [[1, 2, 3], [4, 5, 6]]
    publish('update_overlay_points', 'updated', cloud, points=points)
    overlays = watcher.scene(lambda seen: seen['overlay_points'])['overlay_points']
    given = {**cloud, 'points': points, 'owner_id': 'me'}
    assert overlays == {'p': {**given, 'point_size': 0.008, 'visible': True}}
    publish('remove_overlay_points', 'removed', cloud)
    watcher.scene(lambda seen: not seen['overlay_points'])
    publish('clear_overlay_points', 'cleared', {})
    publish('remove_mesh', 'removed', mesh)
    watcher.scene(lambda seen: 'm' not in seen['meshes'])
    publish('clear_meshes', 'cleared', {})
    # What comes back brings its data again, stays after a message that is too large, and goes
    # with its owner.
    publish('add_mesh', 'added', mesh, mesh_data_b64=GLB)
    watcher.scene(lambda seen: 'asset_uri' in seen['meshes'].get('m', {}))
    publisher.send('add_mesh', {'mesh_id': 'big', 'mesh_data_b64': 'A' * 7_900_000})
    assert '79000' in publisher.error()
    other = join(None)
    other.send('hello', {'role': 'publisher', 'owner_id': 'me'})
    assert 'is in use' in other.error()
    assert 'm' in watcher.newest()['meshes']
    publisher.close()
    watcher.scene(lambda seen: 'm' not in seen['meshes'])


def test_a_session_that_may_only_watch_cannot_touch_anything(bimanual):
    """The gateway refuses it, whatever the page shows or hides."""
    with field_at(bimanual, PageFiles()) as gateway:
        url = gateway.url.replace('http', 'ws', 1)
        with FieldClient(f'{gateway.url}/?view') as watcher:
            for role in ('vr_client', 'publisher'):
                watcher.send('hello', {'role': role, 'character_mode': 'bimanual'})
                assert role in watcher.answer('error')['reason']
            watcher.hello('spectator')
            assert watcher.scene(lambda seen: seen['arms'])
        with connect(f'{url}/?view', max_size=None) as page:
            hello = {'role': 'spectator', 'extensions': ['binary']}
            page.send(json.dumps({'version': 1, 'type': 'hello', 'payload': hello}))
            answers = {}
            for number, op in enumerate([*REQUESTS, 'contacts']):
                page.send(bytes([2]) + json.dumps({'op': op, 'id': number}).encode())
                while number not in answers:
                    message = page.recv(timeout=60)
                    if isinstance(message, bytes) and message[0] == 2:
                        content = json.loads(message[1:])
                        if content['type'] == 'answer':
                            answers[content['id']] = content
            *refused, allowed = answers.values()
            assert 'error' not in allowed
            for answer in refused:
                assert 'only watch' in answer['error'] and answer['op'] in answer['error']


def test_a_changed_world_sends_all_its_clients_away_even_if_another_one_found_it_first(
    two_arms, urlab, monkeypatch
):
    """The new client replaces the simulation before the gateway has looked at the old one."""
    monkeypatch.setattr(server, 'RATE', 1.0)
    hello = {'role': 'spectator', 'extensions': ['binary']}
    before = world_threads()
    with field_at(two_arms, PageFiles()) as gateway:
        pages = [FieldClient(gateway.url) for _ in range(2)]
        spectator = FieldClient(gateway.url, 'spectator')
        for page in pages:
            page.send('hello', hello)
            assert page.answer('hello_ack') and page.answer('asset_manifest')
            assert page.socket.recv(timeout=PATIENCE)[0] == messages.TEXT
        old = gateway.world
        urlab(two_arms).spawn_entity('newcomer', xml=BOX, pos=(2.0, 2.0, 1.0))
        try:
            with FieldClient(gateway.url, 'spectator') as newcomer:
                for client in (*pages, spectator):
                    with pytest.raises(ConnectionClosed, match=r'1013 .*the world has changed'):
                        wait_until(lambda link=client.socket: link.recv(timeout=PATIENCE) is None)
                assert 'newcomer' in str(newcomer.scene()['meshes'].keys())
                # Nothing of the old world is left, nor begins in it for a client that comes late.
                with pytest.raises(NoSimulation):
                    old.take('late', 'bimanual', 1)
                with pytest.raises(NoSimulation):
                    old.page()
                wait_until(lambda: world_threads() == before)
        finally:
            urlab(two_arms).delete_entity('newcomer')
