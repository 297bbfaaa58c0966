# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Looking actors up, quick convert, drawings and the viewport by requests."""

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
    assert 'articulation' in full.refusal('add_quick_convert', target='robot').message
    assert full.code('add_quick_convert', target='lamp') == 'add_quick_convert_failed'
    # MuJoCo's own rule: a plane cannot move.
    assert full.code('add_quick_convert', target='floor') == 'add_quick_convert_failed'
    assert full.actors()['floor']['quick_convert']['static'] is True
    assert full.code('remove_quick_convert', target='mesh') == 'remove_quick_convert_failed'
    assert full.code('add_quick_convert', target='mesh', friction=[1, -1, 1]) == 'bad_value'
    assert full.code('add_quick_convert', target='mesh', friction=[1]) == 'bad_value'


def test_bounds_can_be_limited_to_colliding_geoms(full):
    whole = full.ask('get_actor_bounds', target='robot')
    solid = full.ask('get_actor_bounds', target='robot', components_only=True)
    # The shell, a ball of 0.1 m around 1.3 m, touches nothing.
    assert whole['max'][2] == pytest.approx(1.4) and solid['max'][2] < 1.1
    lamp = full.ask('get_actor_bounds', target='lamp')
    assert lamp['center'] == [0, 0, 3] and lamp['extents'] == [0, 0, 0]
    assert full.code('get_actor_bounds', target='mesh', components_only=True) == 'no_bounds'
    assert full.code('get_actor_bounds', target='nobody') == 'unknown_actor'


@pytest.mark.parametrize(
    ('op', 'fields', 'code'),
    [
        ('draw_marker', {'location': [1, 2], 'color': [1, 0, 0]}, 'bad_value'),
        ('set_viewport_mode', {'mode': 'xray'}, 'invalid_mode'),
        ('set_camera', {'location': [0, 0, 0], 'fov': 180}, 'bad_value'),
        ('frame_actor', {'target': 'nobody'}, 'unknown_actor'),
        ('track_actor', {'target': 'nobody'}, 'unknown_actor'),
    ],
)
def test_bad_fields_are_refused(desk, op, fields, code):
    assert desk.code(op, **fields) == code
