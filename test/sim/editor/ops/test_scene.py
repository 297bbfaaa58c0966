# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Actors by requests."""

import pytest

from urlab_ros_bridge import models
from urlab_ros_bridge.sim.editor.transforms import from_euler
from urlab_ros_bridge.sim.model.sidecar.sidecar import load_sidecar


def test_a_robot_comes_with_what_the_sidecar_beside_its_file_says(desk):
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
    failed = desk.fails('spawn_actor', blueprint='sphere', actor_id='a')
    assert failed.code == 'spawn_failed' and 'box' in failed.message
    assert desk.code('spawn_light', actor_id='a') == 'spawn_failed'


def test_shapes_answer_to_the_names_of_the_unreal_engine(desk):
    made = desk.ask('spawn_actor', blueprint='/Engine/BasicShapes/Cube.Cube', actor_id='a')
    assert made['blueprint_class_path'] == '/URLab/Shapes/box.box_C'


@pytest.mark.parametrize(
    ('fields', 'code'),
    [
        ({'blueprint': 'dragon'}, 'spawn_failed'),
        ({'blueprint': ''}, 'missing_field'),
        ({'blueprint': 7}, 'bad_value'),
        ({'blueprint': 'rover', 'scale': [2, 2, 2]}, 'spawn_failed'),
        ({'blueprint': 'rover', 'physics': 'static'}, 'spawn_failed'),
        ({'blueprint': 'box', 'physics': 'magic'}, 'bad_value'),
        ({'blueprint': 'box', 'scale': [1, 0, 1]}, 'bad_value'),
        ({'blueprint': 'box', 'location': [1, 2]}, 'bad_value'),
        ({'blueprint': 'box', 'rotation_quat': [0, 0, 0, 0]}, 'bad_value'),
        ({'blueprint': 'box', 'actor_id': 'x' * 101}, 'bad_value'),
        ({'blueprint': 'cylinder', 'scale': [1, 2, 1]}, 'spawn_failed'),
    ],
)
def test_what_cannot_be_spawned_changes_nothing(desk, fields, code):
    assert desk.code('spawn_actor', **fields) == code
    assert desk.actors() == {}


def test_a_grid_is_spread_by_its_spacing_with_ids_by_place(desk):
    fields = {'blueprint': 'box', 'base_actor_id': 'c', 'count_x': 3, 'count_y': 2}
    reply = desk.ask('spawn_grid', **fields, spacing=[2, 5, 9], origin=[1, 1, 1])
    places = {item['actor_id']: item['location'] for item in reply['actors']}
    assert reply['count'] == 6
    assert places == {f'c_{i}_{j}': [1 + 2 * i, 1 + 5 * j, 1] for i in range(3) for j in range(2)}
    again = desk.ask('spawn_grid', **fields)
    assert all(item['was_existing'] for item in again['actors']) and len(desk.actors()) == 6


@pytest.mark.parametrize(
    ('counts', 'code'),
    [
        ((0, 1), 'invalid_count'),
        ((1, -3), 'invalid_count'),
        ((33, 32), 'too_many_cells'),
        ((1.5, 1), 'bad_value'),
        (('many', 1), 'bad_value'),
    ],
)
def test_a_grid_of_nothing_or_of_too_much_is_refused(desk, counts, code):
    fields = {'blueprint': 'box', 'base_actor_id': 'c', 'count_x': counts[0], 'count_y': counts[1]}
    assert desk.code('spawn_grid', **fields) == code and desk.actors() == {}


def test_a_grid_comes_whole_or_not_at_all(desk):
    desk.ask('spawn_actor', blueprint='sphere', actor_id='c_1_0')
    assert (
        desk.code('spawn_grid', blueprint='box', base_actor_id='c', count_x=3, count_y=1)
        == 'spawn_failed'
    )
    assert set(desk.actors()) == {'c_1_0'}


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


def test_a_transform_keeps_what_is_not_given(desk):
    desk.ask('spawn_actor', blueprint='box', actor_id='a', location=[1, 2, 3])
    desk.ask('set_actor_transform', target='a', rotation_euler=[0, 0, 90])
    row = desk.actors()['a']
    assert row['location'] == [1, 2, 3]
    assert row['rotation_quat'] == pytest.approx([0, 0, 0.5**0.5, 0.5**0.5])
    desk.ask('set_actor_transform', target='a', target_by='actor_name', location=[0, 0, 0])
    assert desk.actors()['a']['rotation_quat'] == row['rotation_quat']


@pytest.mark.parametrize('op', ['destroy_actor', 'remove_actor'])
def test_a_destroyed_actor_is_gone(desk, op):
    desk.ask('spawn_actor', blueprint='box', actor_id='a')
    desk.ask('select_actor', target='a')
    assert desk.actors()['a']['selected'] is True
    desk.ask(op, target='a')
    assert desk.actors() == {} and desk.code(op, target='a') == 'unknown_actor'


def test_a_hierarchy_is_the_tree_of_bodies_where_they_stand(desk):
    desk.ask('import_xml', path='arm.xml')
    desk.ask('spawn_actor', blueprint='arm', actor_id='a', location=[10, 0, 0])
    root = desk.ask('actor_hierarchy', target='a')['root']
    assert (root['name'], root['class'], root['location']) == ('a', 'arm_C', [10, 0, 0])
    (base,) = root['children']
    assert base['name'] == 'base' and base['location'] == pytest.approx([10.1, 0, 0.5])
    assert [child['name'] for child in base['children']] == ['link']
    desk.ask('spawn_actor', blueprint='box', actor_id='b')
    assert desk.ask('actor_hierarchy', target='b')['root']['children'] == []


def test_a_snapshot_is_the_same_after_saving_and_loading(desk):
    desk.ask('create_level', name='hall', scene='rover')
    desk.ask('import_xml', path='arm.xml')
    desk.ask('spawn_actor', blueprint='arm', actor_id='a', rotation_euler=[0, 0, 33])
    desk.ask('spawn_actor', blueprint='box', actor_id='b', scale=[0.1, 0.2, 0.3])
    desk.ask('add_quick_convert', target='b', friction=[0.5, 0.01, 0.001], complex_mesh=True)
    desk.ask('spawn_light', kind='spot', actor_id='l', intensity=123.0)
    before = desk.ask('snapshot')
    members = next(row for row in before['actors'] if row['name'] == 'a')['urlab']
    assert members == {
        'mj_class': 'articulation',
        'joints': ['FreeJoint', 'hinge'],
        'actuators': ['push'],
        'sensors': ['angle'],
        'cameras': ['eye'],
    }
    desk.ask('save_level')
    fresh = type(desk)(desk.folder)
    fresh.ask('load_level', level_path='hall')
    after = fresh.ask('snapshot')
    assert after == before
