# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The client's editor against the bundled server's."""

from bundled_server import client_of
from bundled_server import start_server
import numpy as np
import pytest

from urlab_ros_bridge.client.errors import NoActiveManager
from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.client.replies.reader import read_reply
from urlab_ros_bridge.editor.client import Editor
from urlab_ros_bridge.editor.extension import extend
from urlab_ros_bridge.editor.replies import CameraPose
from urlab_ros_bridge.editor.replies import HierarchyNode
from urlab_ros_bridge.editor.replies import to_wire

ROBOT = """
<mujoco model="bot"><worldbody><body name="b" pos="0 0 1"><freejoint/><geom size="0.1"/>
<body name="l"><joint name="j"/><geom size="0.1" pos="0 0 .3"/></body></body></worldbody>
<actuator><motor name="m" joint="j"/></actuator></mujoco>
"""


@pytest.fixture
def client(keep, tmp_path):
    """Return a client of an editor without a world, with bot.xml in its data folder."""
    (tmp_path / 'bot.xml').write_text(ROBOT)
    server = keep(start_server(extend, data_dir=tmp_path, world=''))
    return keep(client_of(server, shared=True, timeout=20))


def test_a_level_is_built_and_played_and_the_handshake_follows(client):
    editor = Editor(client)
    assert client.handshake.manager_present is False
    path = editor.create_level('hall')
    bot = editor.import_xml('bot.xml')
    assert bot.name == 'bot' and bot.imported_now
    first = editor.spawn_actor(bot, 'a', [1, 0, 0], [0.5**0.5, 0, 0, 0.5**0.5])
    assert first.quat == pytest.approx([0.5**0.5, 0, 0, 0.5**0.5])
    cells = editor.spawn_grid('box', 'c', 2, 1, origin=(0, 3, 1), physics='dynamic')
    assert cells['c_1_0'].location.tolist() == [1, 3, 1]
    editor.spawn_light('spot', 'l', [0, 0, 3], euler=[0, 90, 0])
    assert editor.save_level() == path == editor.current_level()
    generation, session = client.generation, client.handshake.session_id
    assert editor.begin_pie().ready
    assert client.generation == generation + 1 and client.handshake.session_id == session
    assert client.handshake.articulations['a'].actor_id == 'a'
    assert client.handshake.model.nbody == 5
    client.set_mode('direct')
    assert client.step(5).articulations['a'].qpos.shape == (8,)
    editor.stop_pie()
    assert client.handshake.manager_present is False
    assert editor.pie_status().state == 'off'
    with pytest.raises(NoActiveManager):
        client.step()


def test_actors_are_described_in_this_clients_convention_and_the_camera_follows(client):
    editor = Editor(client)
    editor.import_xml('bot.xml')
    editor.spawn_actor('bot', 'a', [1, 2, 3], euler=[0, 0, 180])
    editor.spawn_actor('box', 'b')
    editor.add_quick_convert('b', static=True, friction=(0.5, 0.1, 0.1))
    rows = {actor.name: actor for actor in editor.list_actors()}
    assert np.abs(rows['a'].quat) == pytest.approx([0, 0, 0, 1], abs=1e-9)
    assert rows['a'].is_articulation and rows['b'].quick_convert['static'] is True
    editor.remove_quick_convert('b')
    assert [actor.name for actor in editor.find_actors(class_filter='StaticMeshActor')] == ['b']
    assert editor.list_actors()[1].quick_convert == {}
    members = {actor.name: actor.members for actor in editor.snapshot().actors}
    assert members['a']['joints'] == ['FreeJoint', 'j'] and members['b'] == {}
    node = editor.actor_hierarchy('a')
    assert (node.children[0].name, node.children[0].children[0].name) == ('b', 'l')
    bounds = editor.get_actor_bounds('a')
    assert bounds.low == pytest.approx([0.9, 1.9, 3.9])
    assert bounds.high == pytest.approx([1.1, 2.1, 4.4])
    assert editor.set_actor_transform('a', quat=[1, 0, 0, 0], by_name=True) is False
    assert editor.duplicate_actor('a', 'twin').location == pytest.approx([2, 2, 3])
    editor.select_actor('twin')
    assert editor.destroy_actor('twin') is False
    assert {item.name for item in editor.list_blueprints()} >= {'bot', 'box', 'rover'}
    assert editor.ensure_manager() is False and editor.ensure_manager() is True
    pose = editor.set_camera([1, 2, 3], [1, 0, 0, 0], fov=60)
    assert pose.quat.tolist() == [1, 0, 0, 0] and pose.fov == 60
    assert editor.get_camera().location.tolist() == [1, 2, 3]
    assert editor.frame_actor('b').location[1:] == pytest.approx([0, 0])
    assert editor.set_viewport_mode('collision') == 'collision'
    assert editor.track_actor('b', offset=[-1, 0, 0]).endswith('.b')
    assert editor.untrack() is True and editor.untrack() is False
    editor.draw_marker([0, 0, 1], [1, 0, 0], ttl=-1, label='here', tag='t')
    editor.draw_line([0, 0, 0], [1, 0, 0], [0, 1, 0], ttl=-1)
    editor.draw_arrow([0, 0, 0], [1, 0, 0], [0, 1, 0], ttl=-1, arrow_size=0.3)
    editor.draw_box([0, 0, 0], [1, 1, 1], [0, 1, 0], [0, 1, 0, 0], ttl=-1)
    editor.draw_axes([0, 0, 0], ttl=-1)
    editor.set_overlay_text('hello')
    shown = editor.read_markers()
    kinds = [marker['kind'] for marker in shown['markers']]
    assert kinds == ['marker', 'line', 'arrow', 'box', 'axes'] and shown['text'] == 'hello'
    assert shown['markers'][3]['rotation_quat'] == [1, 0, 0, 0]
    editor.clear_markers('t')
    assert len(editor.read_markers()['markers']) == 4


def test_quaternions_are_reordered_and_bad_replies_refused():
    assert to_wire([1, 2, 3, 4]) == [2, 3, 4, 1] and to_wire(None) is None
    assert read_reply(CameraPose, {'rotation_quat': [2, 3, 4, 1]}).quat.tolist() == [1, 2, 3, 4]
    endless = {}
    for _ in range(200):
        endless = {'children': [endless]}
    for kind, reply in ((CameraPose, {'rotation_quat': [1, 2]}), (HierarchyNode, endless)):
        with pytest.raises(ProtocolError):
            read_reply(kind, reply)
