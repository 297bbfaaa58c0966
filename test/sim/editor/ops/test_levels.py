# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Levels and blueprints by requests."""

import pytest
import yaml

from urlab_ros_bridge import models
from urlab_ros_bridge.sim.editor.ops import levels
from urlab_ros_bridge.sim.model.client_models.files import BUNDLED
from urlab_ros_bridge.sim.model.sidecar.sidecar import load_sidecar
from urlab_ros_bridge.wire.ops import EDITOR_ONLY
from urlab_ros_bridge.wire.ops import OPS


def test_every_op_of_the_table_is_served_and_listed(desk):
    served = {item['name'] for item in desk.ask('meta')['ops']}
    assert {op.name for op in OPS.values() if op.category == EDITOR_ONLY} <= served
    assert 'read_markers' in served


def test_a_level_begins_empty_and_without_a_name(desk):
    assert desk.ask('current_level')['level_path'] == ''
    assert desk.ask('list_actors') == {'op': 'list_actors_ok', 'actors': [], 'in_pie': False}
    failed = desk.fails('save_level')
    assert failed.code == 'save_level_failed' and 'name' in failed.message
    path = desk.ask('save_level', name='first')['level_path']
    assert path == str(desk.folder / 'Levels' / 'first.yaml')
    assert desk.ask('current_level')['level_path'] == path


def test_create_level_refuses_to_overwrite_unless_forced(desk):
    path = desk.ask('create_level', name='hall')['level_path']
    assert load_sidecar(path).scene is None
    desk.ask('spawn_actor', blueprint='box')
    desk.ask('save_level')
    assert desk.code('create_level', name='hall') == 'create_level_failed'
    assert len(desk.actors()) == 1
    desk.ask('create_level', name='hall', force_overwrite=True)
    assert desk.actors() == {} and load_sidecar(path).objects == ()


@pytest.mark.parametrize(
    'text', ['hall', 'hall.yaml', '/Game/Levels/hall', '/Game/Levels/hall.hall', 'PATH']
)
def test_a_level_is_found_by_name_by_path_and_as_stock_scripts_write_it(desk, text):
    path = desk.ask('create_level', name='hall')['level_path']
    desk.ask('create_level', name='other')
    wanted = path if text == 'PATH' else text
    assert desk.ask('load_level', level_path=wanted)['level_path'] == path


def test_a_level_can_stand_on_the_scene_of_a_bundled_world(desk):
    desk.ask('create_level', name='hall', scene='rover')
    scene = models.world_path('rover').with_suffix('.xml')
    assert desk.editor.level.scene == scene
    desk.play()
    assert 'pallet' in desk.world.entities
    assert desk.code('create_level', name='b', scene='nowhere.xml') == 'create_level_failed'


def test_a_bundled_world_is_opened_by_name_and_saved_into_the_data_folder(desk):
    desk.ask('load_level', level_path='rover')
    assert set(desk.actors()) == {'rover'}
    path = desk.ask('save_level')['level_path']
    assert path == str(desk.folder / 'Levels' / 'rover.yaml')
    again = load_sidecar(path)
    assert again.articulations == load_sidecar(models.world_path('rover')).articulations


def test_a_level_that_makes_no_sense_leaves_the_open_one_alone(desk):
    desk.ask('create_level', name='hall')
    (desk.folder / 'Levels' / 'bad.yaml').write_text('articulations: 7')
    failed = desk.fails('load_level', level_path='bad')
    assert failed.code == 'load_level_failed' and 'articulations' in failed.message
    assert desk.code('load_level', level_path='missing') == 'load_level_failed'
    assert desk.ask('current_level')['level_path'].endswith('hall.yaml')


LONG = 'x' * 300
OUTSIDE = [
    LONG,
    f'{BUNDLED}/{LONG}',
    '/etc/passwd',
    '../../x',
    '/Game/../../etc/passwd',
    'a\\b',
    '\0',
]


@pytest.mark.parametrize('text', OUTSIDE)
def test_paths_that_lead_elsewhere_or_nowhere_are_refused(desk, text):
    assert desk.code('load_level', level_path=text) == 'load_level_failed'
    assert desk.code('import_xml', path=text) == 'import_failed'
    assert desk.code('create_level', name=text) == 'create_level_failed'
    assert desk.code('destroy_asset', asset_path=text) == 'destroy_asset_failed'


def test_a_level_may_only_be_made_of_files_that_clients_may_read(desk, tmp_path):
    secret = tmp_path / 'secret.xml'
    secret.write_text('<mujoco><worldbody><body><geom size="1"/></body></worldbody></mujoco>')
    (desk.folder / 'Levels').mkdir()
    robot = {'prefix': 'a', 'model': str(secret)}
    (desk.folder / 'Levels' / 'a.yaml').write_text(yaml.safe_dump({'articulations': [robot]}))
    failed = desk.fails('load_level', level_path='a')
    assert failed.code == 'load_level_failed' and 'there is no file' in failed.message


def test_an_import_is_remembered_by_later_editors_until_it_is_destroyed(desk):
    made = desk.ask('import_xml', path='arm.xml')
    assert (made['blueprint_short_name'], made['imported_now']) == ('arm', True)
    assert desk.ask('import_xml', path=str(desk.folder / 'arm.xml'))['imported_now'] is False
    assert desk.ask('import_xml', path='arm.xml', force_reimport=True)['imported_now'] is True
    later = type(desk)(desk.folder)
    names = {item['blueprint_short_name'] for item in later.ask('list_blueprints')['blueprints']}
    assert {'arm', 'box', 'sphere', 'cylinder', 'plane', 'rover', 'quadruped'} <= names
    path = made['blueprint_class_path']
    assert later.ask('destroy_asset', asset_path=path)['was_found'] is True
    assert later.ask('destroy_asset', asset_path=path)['was_found'] is False
    assert (desk.folder / 'arm.xml').exists()
    assert later.code('spawn_actor', blueprint=path) == 'spawn_failed'


def test_two_files_of_one_name_are_two_blueprints(desk):
    (desk.folder / 'other').mkdir()
    desk.write('other/arm.xml', (desk.folder / 'arm.xml').read_text())
    one, two = (desk.ask('import_xml', path=path) for path in ('arm.xml', 'other/arm.xml'))
    assert one['blueprint_class_path'] != two['blueprint_class_path']


def test_a_broken_file_is_refused_with_the_compilers_own_words(desk):
    desk.write('bad.xml', '<mujoco><worldbody><geom size="0"/></worldbody></mujoco>')
    failed = desk.fails('import_xml', path='bad.xml')
    assert failed.code == 'import_failed' and 'size 0 must be positive' in failed.message
    desk.write('worse.xml', 'no xml at all')
    assert 'XML' in desk.fails('import_xml', path='worse.xml').message
    assert desk.code('import_xml', path='missing.xml') == 'import_failed'
    assert desk.code('import_xml', path='') == 'missing_field'


def test_a_manager_is_there_once_it_was_asked_for(desk):
    desk.ask('create_level', name='hall')
    assert desk.ask('ensure_manager')['was_existing'] is False
    assert desk.ask('ensure_manager')['was_existing'] is True
    desk.ask('load_level', level_path='hall')
    assert desk.ask('ensure_manager')['was_existing'] is True


def test_a_level_that_could_not_be_read_again_is_not_saved(desk, monkeypatch):
    path = desk.ask('create_level', name='hall')['level_path']
    desk.ask('spawn_grid', blueprint='box', base_actor_id='crate', count_x=10, count_y=10)
    with monkeypatch.context() as patch:
        patch.setattr(levels, 'MAX_BYTES', 2000)
        assert desk.code('save_level') == 'save_level_failed'
    assert load_sidecar(path).objects == ()
    desk.ask('load_level', level_path='hall')
    assert desk.actors() == {}


def test_a_destroyed_level_is_closed_and_its_file_gone(desk):
    desk.ask('create_level', name='hall')
    desk.ask('spawn_actor', blueprint='box')
    assert desk.ask('destroy_asset', asset_path='/Game/Levels/hall.hall')['was_found'] is True
    assert desk.ask('current_level')['level_path'] == '' and desk.actors() == {}
    assert desk.ask('destroy_asset', asset_path='hall')['was_found'] is False
