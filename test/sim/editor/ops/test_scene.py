# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Actors by requests."""

import pytest

from urlab_ros_bridge import models
from urlab_ros_bridge.sim.editor.transforms import from_euler
from urlab_ros_bridge.sim.model.sidecar.sidecar import load_sidecar


def test_a_robot_has_the_settings_of_the_sidecar_beside_its_file(desk):
    desk.ask('spawn_actor', blueprint='rover', actor_id='r')
    spec = desk.editor.level.spec().articulations[0]
    bundled = load_sidecar(models.world_path('rover')).articulations[0]
    assert (spec.twist, spec.cameras, spec.lidars) == (
        bundled.twist,
        bundled.cameras,
        bundled.lidars,
    )
    desk.write('my.xml', (desk.folder / 'arm.xml').read_text())
    desk.write('my.yaml', 'articulations: [{prefix: x, model: my.xml, frames: {base: base}}]')
    blueprint = desk.ask('import_xml', path='my.xml')['blueprint_class_path']
    desk.ask('spawn_actor', blueprint=blueprint, actor_id='m')
    assert desk.editor.level.spec().articulations[1].frames == {'base': 'base'}


def test_spawning_twice_under_one_id_moves_the_first(desk):
    one = desk.ask('spawn_actor', blueprint='box', actor_id='a', physics='dynamic')
    two = desk.ask('spawn_actor', blueprint='box', actor_id='a', location=[1, 2, 3])
    assert (one['was_existing'], two['was_existing']) == (False, True)
    assert one['actor_name'] == two['actor_name'] and two['location'] == [1, 2, 3]
    assert len(desk.actors()) == 1 and desk.actors()['a']['has_quick_convert']
    failed = desk.refusal('spawn_actor', blueprint='sphere', actor_id='a')
    assert failed.code == 'spawn_failed' and 'box' in failed.message
    assert desk.code('spawn_light', actor_id='a') == 'spawn_failed'


@pytest.mark.parametrize(
    ('fields', 'code'),
    [
        ({'blueprint': 'dragon'}, 'spawn_failed'),
        ({'blueprint': 'rover', 'scale': [2, 2, 2]}, 'spawn_failed'),
        ({'blueprint': 'box', 'physics': 'magic'}, 'bad_value'),
        ({'blueprint': 'box', 'scale': [1, 0, 1]}, 'bad_value'),
        ({'blueprint': 'box', 'location': [1, 2]}, 'bad_value'),
        ({'blueprint': ''}, 'missing_field'),
        ({'blueprint': 'box', 'actor_id': 'x' * 2000}, 'bad_value'),
    ],
)
def test_a_refused_spawn_changes_nothing(desk, fields, code):
    assert desk.code('spawn_actor', **fields) == code
    assert desk.actors() == {}


def test_a_duplicate_is_its_original_but_for_the_id_and_a_step_along_x(desk):
    quat = list(from_euler((10, 20, 30)))
    fields = {'location': [1, 2, 3], 'rotation_quat': quat, 'physics': 'dynamic'}
    desk.ask('spawn_actor', blueprint='box', actor_id='a', scale=[1, 2, 3], **fields)
    desk.ask('import_xml', path='arm.xml')
    desk.ask('spawn_actor', blueprint='arm', actor_id='r', location=[5, 5, 0])
    desk.ask('spawn_light', kind='spot', actor_id='l', color=[1, 0, 0])
    expected = (('a', 'b', [2, 2, 3]), ('r', 's', [6, 5, 0]), ('l', 'm', [1, 0, 0]))
    for source, twin, place in expected:
        made = desk.ask('duplicate_actor', target=source, new_actor_id=twin)
        assert made['location'] == place and made['actor_id'] == twin
        one, other = (desk.editor.level.find(name) for name in (source, twin))
        assert (one.kind, one.settings, one.pose.orientation) == (
            other.kind,
            other.settings,
            other.pose.orientation,
        )
    assert desk.ask('duplicate_actor', target='a', new_actor_id='c', location=[0, 0, 9])[
        'location'
    ] == [0, 0, 9]
    assert desk.code('duplicate_actor', target='a', new_actor_id='b') == 'duplicate_failed'
    assert desk.code('duplicate_actor', target='x', new_actor_id='y') == 'unknown_actor'


@pytest.mark.parametrize(
    ('op', 'fields', 'code'),
    [
        ('spawn_grid', {'blueprint': 'box', 'count_x': 0, 'count_y': 2}, 'invalid_count'),
        ('spawn_grid', {'blueprint': 'box', 'count_x': 99, 'count_y': 99}, 'too_many_cells'),
        ('spawn_light', {'kind': 'lava'}, 'spawn_failed'),
        ('save_level', {}, 'save_level_failed'),
    ],
)
def test_refused_grids_lights_and_levels_change_nothing(desk, op, fields, code):
    fields = {'base_actor_id': 'cell', **fields} if op == 'spawn_grid' else fields
    assert desk.code(op, **fields) == code
    assert desk.actors() == {}


def test_a_light_is_updated_and_removed_under_its_id(desk):
    first = desk.ask('spawn_light', actor_id='sun', location=[0, 0, 3])
    again = desk.ask('spawn_light', actor_id='sun', kind='spot', location=[0, 0, 5])
    assert again['actor_name'] == first['actor_name'] and len(desk.actors()) == 1
    assert desk.code('spawn_actor', blueprint='box', actor_id='sun') == 'spawn_failed'
    assert desk.ask('actor_hierarchy', target='sun')['op'] == 'actor_hierarchy_ok'
    assert desk.ask('remove_actor', target='sun')['target'] == 'sun'
    assert desk.actors() == {}


def test_bodies_of_the_scene_file_are_not_edited(desk):
    desk.ask('create_level', name='hall', scene='rover')
    desk.ask('spawn_actor', blueprint='box', actor_id='mine')
    desk.play()
    for op, code in (('destroy_actor', 'destroy_failed'), ('duplicate_actor', 'duplicate_failed')):
        assert desk.code(op, target='pallet', new_actor_id='twin') == code
    desk.ask('set_actor_transform', target='pallet', location=[0, 0, 2])
    assert desk.world.data.body('pallet').xpos.tolist() == [0, 0, 2]
