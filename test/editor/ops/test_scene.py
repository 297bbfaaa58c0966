# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Actors by requests."""

import pytest

from urlab_ros_bridge import models
from urlab_ros_bridge.editor.transforms import from_euler
from urlab_ros_bridge.sim.model.sidecar.sidecar import load_sidecar


def test_a_robot_has_the_settings_of_the_sidecar_beside_its_file(desk):
    desk.ask('spawn_actor', blueprint='rover', actor_id='r')
    bundled = load_sidecar(models.world_path('rover')).articulations[0]
    spec = desk.editor.level.spec().articulations[0]
    for section in ('twist', 'cameras', 'lidars'):
        assert getattr(spec, section) == getattr(bundled, section)
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
    assert desk.code('spawn_actor', blueprint='sphere', actor_id='a') == 'spawn_failed'
    assert desk.code('spawn_light', actor_id='a') == 'spawn_failed'
    first = desk.ask('spawn_light', actor_id='sun', location=[0, 0, 3])
    again = desk.ask('spawn_light', actor_id='sun', kind='spot', location=[0, 0, 5])
    assert again['actor_name'] == first['actor_name'] and len(desk.actors()) == 2
    assert desk.ask('remove_actor', target='sun')['target'] == 'sun' not in desk.actors()


BOX = {'blueprint': 'box'}
GRID = {**BOX, 'base_actor_id': 'cell'}


@pytest.mark.parametrize(
    ('op', 'fields', 'code'),
    [
        ('spawn_actor', {'blueprint': 'dragon'}, 'spawn_failed'),
        ('spawn_actor', {'blueprint': 'rover', 'scale': [2, 2, 2]}, 'spawn_failed'),
        ('spawn_actor', {**BOX, 'physics': 'magic'}, 'bad_value'),
        ('spawn_actor', {**BOX, 'location': [1, 2]}, 'bad_value'),
        ('spawn_actor', {'blueprint': ''}, 'missing_field'),
        ('spawn_actor', {**BOX, 'actor_id': 'x' * 2000}, 'bad_value'),
        ('spawn_grid', {**GRID, 'count_x': 0, 'count_y': 2}, 'invalid_count'),
        ('spawn_grid', {**GRID, 'count_x': 99, 'count_y': 99}, 'too_many_cells'),
        ('spawn_light', {'kind': 'lava'}, 'spawn_failed'),
        ('save_level', {}, 'save_level_failed'),
        ('draw_marker', {'location': [1, 2], 'color': [1, 0, 0]}, 'bad_value'),
        ('set_viewport_mode', {'mode': 'xray'}, 'invalid_mode'),
        ('set_camera', {'location': [0, 0, 0], 'fov': 180}, 'bad_value'),
        ('frame_actor', {'target': 'nobody'}, 'unknown_actor'),
        ('track_actor', {'target': 'nobody'}, 'unknown_actor'),
    ],
)
def test_a_refused_request_changes_nothing(desk, op, fields, code):
    assert desk.code(op, **fields) == code
    assert desk.actors() == {}


def test_a_duplicate_is_its_original_but_for_the_id_and_a_step_along_x(desk):
    fields = {'location': [1, 2, 3], 'rotation_quat': list(from_euler((10, 20, 30)))}
    desk.ask('spawn_actor', actor_id='a', physics='dynamic', scale=[1, 2, 3], **BOX, **fields)
    made = desk.ask('duplicate_actor', target='a', new_actor_id='b')
    assert made['location'] == [2, 2, 3]
    one, other = map(desk.editor.level.find, ('a', 'b'))
    assert (one.kind, one.settings) == (other.kind, other.settings)
    assert one.pose.orientation == other.pose.orientation
    fields = {'target': 'a', 'location': [0, 0, 9]}
    assert desk.ask('duplicate_actor', new_actor_id='c', **fields)['location'] == [0, 0, 9]
    assert desk.code('duplicate_actor', target='a', new_actor_id='b') == 'duplicate_failed'
    assert desk.code('duplicate_actor', target='x', new_actor_id='y') == 'unknown_actor'


def test_bodies_of_the_scene_file_are_not_edited(desk):
    desk.ask('create_level', name='hall', scene='rover')
    desk.ask('spawn_actor', blueprint='box', actor_id='mine')
    desk.play()
    for op, code in (('destroy_actor', 'destroy_failed'), ('duplicate_actor', 'duplicate_failed')):
        assert desk.code(op, target='pallet', new_actor_id='twin') == code
    desk.ask('set_actor_transform', target='pallet', location=[0, 0, 2])
    assert desk.world.data.body('pallet').xpos.tolist() == [0, 0, 2]
