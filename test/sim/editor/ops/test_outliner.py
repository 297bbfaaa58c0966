# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Looking actors up, quick convert, drawings and the viewport by requests."""

import numpy as np
import pytest


@pytest.fixture
def full(desk):
    """Return a desk with one actor of each kind."""
    desk.ask('import_xml', path='arm.xml')
    desk.ask('import_xml', path='pair.obj')
    desk.ask('spawn_actor', blueprint='arm', actor_id='robot', location=[0, 0, 0])
    desk.ask('spawn_actor', blueprint='pair', actor_id='mesh')
    desk.ask('spawn_actor', blueprint='plane', actor_id='floor', physics='static')
    desk.ask('spawn_light', kind='point', actor_id='lamp', location=[0, 0, 3])
    return desk


@pytest.mark.parametrize(
    ('filters', 'found'),
    [
        ({}, {'robot', 'mesh', 'floor', 'lamp'}),
        ({'class_filter': 'AMjArticulation'}, {'robot'}),
        ({'class_filter': 'arm_c'}, {'robot'}),
        ({'class_filter': 'AStaticMeshActor'}, {'mesh', 'floor'}),
        ({'class_filter': 'Light'}, {'lamp'}),
        ({'class_filter': 'PointLight'}, {'lamp'}),
        ({'class_filter': 'Pawn'}, set()),
        ({'name_prefix': 'm'}, {'mesh'}),
        ({'tag': 'URLab.ActorId=floor'}, {'floor'}),
        ({'class_filter': 'StaticMeshActor', 'name_prefix': 'f'}, {'floor'}),
    ],
)
def test_actors_are_found_by_every_filter_together(full, filters, found):
    reply = full.ask('find_actors', **filters)
    assert {row['name'] for row in reply['actors']} == found and reply['in_pie'] is False


def test_a_row_says_what_an_actor_is(full):
    rows = full.actors()
    kinds = ('is_articulation', 'is_static_mesh_actor', 'is_light', 'has_quick_convert')
    assert {name: [row[kind] for kind in kinds] for name, row in rows.items()} == {
        'robot': [True, False, False, False],
        'mesh': [False, True, False, False],
        'floor': [False, True, False, True],
        'lamp': [False, False, True, False],
    }


@pytest.mark.parametrize(
    ('fields', 'physics', 'joints', 'mocaps', 'geoms'),
    [
        ({}, 'dynamic', 1, 0, 1),
        ({'static': True}, 'static', 0, 0, 1),
        ({'driven_by_unreal': True}, 'mocap', 0, 1, 1),
        ({'static': True, 'complex_mesh': True}, 'static', 0, 0, 2),
    ],
)
def test_quick_convert_makes_a_mesh_a_body_of_its_kind(
    desk, fields, physics, joints, mocaps, geoms
):
    desk.ask('import_xml', path='pair.obj')
    desk.ask('spawn_actor', blueprint='pair', actor_id='mesh')
    desk.play()
    assert not desk.world.model.geom_contype.any()
    reply = desk.ask('add_quick_convert', target='mesh', friction=[0.3, 0.2, 0.1], **fields)
    assert reply['requires_pie_restart'] is True
    row = desk.actors()['mesh']['quick_convert']
    assert row['static'] == (physics == 'static') and row['friction'] == [0.3, 0.2, 0.1]
    assert row['driven_by_unreal'] == (physics == 'mocap')
    assert row['complex_mesh'] == ('complex_mesh' in fields)
    desk.ask('stop_pie')
    desk.play()
    model = desk.world.model
    assert (model.njnt, model.nmocap, model.ngeom) == (joints, mocaps, geoms)
    assert model.geom_contype.all() and model.geom_friction[0] == pytest.approx([0.3, 0.2, 0.1])
    desk.ask('remove_quick_convert', target='mesh')
    desk.ask('stop_pie')
    desk.play()
    assert not desk.world.model.geom_contype.any()


def test_only_static_meshes_are_converted(full):
    assert 'articulation' in full.fails('add_quick_convert', target='robot').message
    assert full.code('add_quick_convert', target='lamp') == 'add_quick_convert_failed'
    # MuJoCo's own rule: a plane cannot move.
    assert full.code('add_quick_convert', target='floor') == 'add_quick_convert_failed'
    assert full.actors()['floor']['quick_convert']['static'] is True
    assert full.code('remove_quick_convert', target='mesh') == 'remove_quick_convert_failed'
    assert full.code('add_quick_convert', target='mesh', friction=[1, -1, 1]) == 'bad_value'
    assert full.code('add_quick_convert', target='mesh', friction=[1]) == 'bad_value'


def test_bounds_can_be_those_of_what_collides_only(full):
    whole = full.ask('get_actor_bounds', target='robot')
    solid = full.ask('get_actor_bounds', target='robot', components_only=True)
    # The shell, a ball of 0.1 m around 1.3 m, touches nothing.
    assert whole['max'][2] == pytest.approx(1.4) and solid['max'][2] < 1.1
    lamp = full.ask('get_actor_bounds', target='lamp')
    assert lamp['center'] == [0, 0, 3] and lamp['extents'] == [0, 0, 0]
    assert full.code('get_actor_bounds', target='mesh', components_only=True) == 'no_bounds'
    assert full.code('get_actor_bounds', target='nobody') == 'unknown_actor'


def test_selecting_selects_one(full):
    for name in ('robot', 'mesh'):
        reply = full.ask('select_actor', target=name)
        assert reply['target'] == reply['actor_name'] == name
        assert [row['name'] for row in full.actors().values() if row['selected']] == [name]


def test_drawings_are_read_back_as_they_were_drawn(desk):
    desk.ask('draw_marker', location=[1, 2, 3], color=[1, 0, 0], ttl=-1, label='x', tag='a')
    desk.ask('draw_line', **{'from': [0, 0, 0], 'to': [1, 0, 0]}, color=[0, 2, 0], ttl=9)
    desk.ask('draw_arrow', **{'from': [0, 0, 0], 'to': [0, 0, 2]}, color=[0, 0, 1], ttl=-1)
    desk.ask('draw_box', center=[0, 0, 0], half_extents=[1, -2, 3], color=[1, 1, 1], ttl=-1)
    desk.ask('draw_axes', location=[0, 0, 0], rotation_euler=[0, 0, 90], ttl=-1)
    desk.ask('set_overlay_text', text='hello')
    reply = desk.ask('read_markers')
    marker, line, arrow, box, axes = reply['markers']
    assert reply['text'] == 'hello'
    assert [item['kind'] for item in reply['markers']] == [
        'marker',
        'line',
        'arrow',
        'box',
        'axes',
    ]
    assert (marker['location'], marker['label'], marker['ttl']) == ([1, 2, 3], 'x', -1)
    assert line['color'] == [0, 1, 0] and 8 < line['ttl'] <= 9
    assert arrow['arrow_size'] == pytest.approx(0.4)
    assert box['half_extents'] == [1, 2, 3] and box['rotation_quat'] == [0, 0, 0, 1]
    assert axes['rotation_quat'] == pytest.approx([0, 0, 0.5**0.5, 0.5**0.5])
    assert len(desk.editor.drawings.shapes()) == 1 + 1 + 1 + 12 + 3
    assert desk.ask('clear_markers', tag='a')['count'] == 1
    assert desk.ask('clear_markers')['count'] == 4
    assert desk.ask('read_markers')['markers'] == [] == desk.editor.drawings.shapes()


@pytest.mark.parametrize(
    ('op', 'fields', 'code'),
    [
        ('draw_marker', {'location': [1, 2], 'color': [1, 0, 0]}, 'bad_value'),
        ('draw_marker', {'location': [1, 2, 3], 'color': [1, 0]}, 'bad_value'),
        ('draw_marker', {'location': [1, 2, 3]}, 'missing_field'),
        ('draw_line', {'from': [0, 0, 0], 'color': [1, 0, 0]}, 'missing_field'),
        ('draw_marker', {'location': [0, 0, 0], 'color': [0, 0, 0], 'ttl': 'long'}, 'bad_value'),
        ('set_viewport_mode', {'mode': 'xray'}, 'invalid_mode'),
        ('set_camera', {'location': [0, 0, 0], 'fov': 180}, 'bad_value'),
        ('set_camera', {'location': [0, 0]}, 'bad_value'),
        ('frame_actor', {'target': 'nobody'}, 'unknown_actor'),
        ('track_actor', {'target': 'nobody'}, 'unknown_actor'),
    ],
)
def test_bad_fields_are_refused(desk, op, fields, code):
    assert desk.code(op, **fields) == code


def test_the_camera_goes_where_it_is_put_and_keeps_what_is_not_given(desk):
    put = desk.ask('set_camera', location=[1, 2, 3], rotation_euler=[0, 45, 90], fov=60)
    assert put['rotation_euler'] == pytest.approx([0, 45, 90]) and put['fov'] == 60
    moved = desk.ask('set_camera', location=[4, 5, 6])
    assert moved['rotation_quat'] == pytest.approx(put['rotation_quat']) and moved['fov'] == 60
    got = desk.ask('get_camera')
    assert {**got, 'op': ''} == {**moved, 'op': ''} and got['location'] == [4, 5, 6]
    # Looks along y, half down.
    assert desk.editor.viewport.view()['forward'] == pytest.approx([0, 0.5**0.5, -(0.5**0.5)])


def test_an_actor_is_framed_and_followed(full):
    full.ask('set_camera', location=[0, 0, 0], rotation_quat=[0, 0, 0, 1])
    framed = full.ask('frame_actor', target='mesh')
    center = full.ask('get_actor_bounds', target='mesh')['center']
    gap = np.subtract(center, framed['location'])
    assert gap[0] > 3 and gap[1:] == pytest.approx([0, 0])
    assert full.code('frame_actor', target='lamp') == 'no_bounds'
    path = full.ask('track_actor', target='robot', offset=[-1, 0, 0])['tracked_actor_path']
    assert path.endswith(':PersistentLevel.robot')
    assert full.ask('get_camera')['location'] == pytest.approx([-1, 0, 0])
    full.ask('set_actor_transform', target='robot', location=[0, 7, 0])
    assert full.ask('get_camera')['location'] == pytest.approx([-1, 7, 0])
    assert full.ask('untrack')['was_tracking'] is True
    assert full.ask('untrack')['was_tracking'] is False


def test_the_view_mode_is_answered_as_the_stock_plugin_does(desk):
    reply = desk.ask('set_viewport_mode', mode='Wireframe')
    assert reply == {'op': 'set_mode_ok', 'mode': 'wireframe'}
    assert desk.editor.viewport.view()['mode'] == 'wireframe'
