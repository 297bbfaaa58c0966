# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Levels and blueprints by requests."""

import pytest

from urlab_ros_bridge import models
from urlab_ros_bridge.sim.model.client_models.files import BUNDLED
from urlab_ros_bridge.sim.model.sidecar.sidecar import load_sidecar


def test_a_level_replaces_another_only_when_forced(desk):
    path = desk.ask('create_level', name='hall')['level_path']
    desk.ask('spawn_actor', blueprint='box')
    desk.ask('save_level')
    assert desk.code('create_level', name='hall') == 'create_level_failed'
    assert len(desk.actors()) == 1
    desk.ask('create_level', name='yard')
    assert desk.code('save_level', name='hall') == 'save_level_failed'
    assert len(load_sidecar(path).objects) == 1
    assert desk.ask('save_level', name='hall', force_overwrite=True)['level_path'] == path
    assert load_sidecar(path).objects == ()


@pytest.mark.parametrize(
    'text', ['hall.yaml', '/Game/Levels/hall', '/Game/Levels/hall.hall', 'PATH']
)
def test_a_level_is_found_by_name_by_path_and_as_stock_scripts_write_it(desk, text):
    path = desk.ask('create_level', name='hall')['level_path']
    desk.ask('create_level', name='other')
    wanted = path if text == 'PATH' else text
    assert desk.ask('load_level', level_path=wanted)['level_path'] == path


def test_a_bundled_world_is_opened_by_name_and_saved_into_the_data_folder(desk):
    desk.ask('load_level', level_path='rover')
    assert set(desk.actors()) == {'rover'}
    path = desk.ask('save_level')['level_path']
    assert path == str(desk.folder / 'Levels' / 'rover.yaml')
    again = load_sidecar(path)
    assert again.articulations == load_sidecar(models.world_path('rover')).articulations


@pytest.mark.parametrize(
    'text', ['x' * 300, f'{BUNDLED}/../x', '/etc/passwd', '/Game/../../etc/passwd', 'a\\b', '\0']
)
def test_paths_that_lead_elsewhere_or_nowhere_are_refused(desk, text):
    assert desk.code('load_level', level_path=text) == 'load_level_failed'
    assert desk.code('import_xml', path=text) == 'import_failed'
    assert desk.code('create_level', name=text) == 'create_level_failed'
    assert desk.code('destroy_asset', asset_path=text) == 'destroy_asset_failed'


def test_an_import_is_remembered_by_later_editors_until_it_is_destroyed(desk):
    made = desk.ask('import_xml', path='arm.xml')
    path = made['blueprint_class_path']
    assert (made['blueprint_short_name'], made['imported_now']) == ('arm', True)
    assert desk.ask('import_xml', path=str(desk.folder / 'arm.xml'))['imported_now'] is False
    assert desk.ask('import_xml', path='arm.xml', force_reimport=True)['imported_now'] is True
    (desk.folder / 'other').mkdir()
    desk.write('other/arm.xml', (desk.folder / 'arm.xml').read_text())
    assert desk.ask('import_xml', path='other/arm.xml')['blueprint_class_path'] != path
    later = type(desk)(desk.folder)
    names = {item['blueprint_short_name'] for item in later.ask('list_blueprints')['blueprints']}
    assert {'arm', 'box', 'plane', 'rover', 'quadruped'} <= names
    assert later.ask('destroy_asset', asset_path=path)['was_found'] is True
    assert later.ask('destroy_asset', asset_path=path)['was_found'] is False
    assert (desk.folder / 'arm.xml').exists()
    assert later.code('spawn_actor', blueprint=path) == 'spawn_failed'


def test_destroying_a_level_closes_it_and_removes_its_file(desk):
    desk.ask('create_level', name='hall')
    desk.ask('spawn_actor', blueprint='box')
    assert desk.ask('destroy_asset', asset_path='/Game/Levels/hall.hall')['was_found'] is True
    assert desk.ask('current_level')['level_path'] == '' and desk.actors() == {}
    assert desk.ask('destroy_asset', asset_path='hall')['was_found'] is False


ROBOTS = 'articulations: [{prefix: a, model: arm.xml}, {prefix: b, model: arm.xml}]'


@pytest.mark.parametrize(('name', 'text'), [('pair.yaml', ROBOTS), ('flat.stl', 'solid')])
def test_unsuitable_files_are_not_imported(desk, name, text):
    desk.write(name, text)
    assert desk.code('import_xml', path=name) == 'import_failed'
