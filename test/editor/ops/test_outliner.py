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
    ('fields', 'counts'),
    [
        ({}, (1, 0, 1)),
        ({'driven_by_unreal': True}, (0, 1, 1)),
        ({'static': True, 'complex_mesh': True}, (0, 0, 2)),
    ],
)
def test_quick_convert_makes_a_mesh_a_body_of_its_kind(desk, fields, counts):
    desk.ask('import_xml', path='pair.obj')
    desk.ask('spawn_actor', blueprint='pair', actor_id='mesh')
    desk.play()
    fields = {'friction': [0.3, 0.2, 0.1], **fields}
    reply = desk.ask('add_quick_convert', target='mesh', **fields)
    assert reply['requires_pie_restart'] is True
    assert desk.actors()['mesh']['quick_convert'].items() >= fields.items()
    desk.ask('stop_pie')
    desk.play()
    model = desk.world.model
    assert (model.njnt, model.nmocap, model.ngeom) == counts
    assert model.geom_contype.all()
    assert model.geom_friction[0] == pytest.approx(fields['friction'])
    desk.ask('remove_quick_convert', target='mesh')
    desk.ask('stop_pie')
    desk.play()
    assert not desk.world.model.geom_contype.any()


def test_only_static_meshes_are_converted(full):
    assert full.code('add_quick_convert', target='robot') == 'add_quick_convert_failed'
    assert full.code('add_quick_convert', target='lamp') == 'add_quick_convert_failed'
    # MuJoCo's own rule: a plane cannot move.
    assert full.code('add_quick_convert', target='floor') == 'add_quick_convert_failed'
    assert full.actors()['floor']['quick_convert']['static'] is True
    assert full.code('remove_quick_convert', target='mesh') == 'remove_quick_convert_failed'
    assert full.code('add_quick_convert', target='mesh', friction=[1, -1, 1]) == 'bad_value'


def test_bounds_can_be_limited_to_colliding_geoms(full):
    whole = full.ask('get_actor_bounds', target='robot')
    solid = full.ask('get_actor_bounds', target='robot', components_only=True)
    # The shell, a ball of 0.1 m around 1.3 m, touches nothing.
    assert whole['max'][2] == pytest.approx(1.4) and solid['max'][2] < 1.1
    lamp = full.ask('get_actor_bounds', target='lamp')
    assert lamp['center'] == [0, 0, 3] and lamp['extents'] == [0, 0, 0]
    assert full.code('get_actor_bounds', target='mesh', components_only=True) == 'no_bounds'
    assert full.code('get_actor_bounds', target='nobody') == 'unknown_actor'
