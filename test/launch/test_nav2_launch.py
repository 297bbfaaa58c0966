# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The launch file of Nav2: what the bring-up of Nav2 is told, and what it starts beside it."""

import importlib.util
from pathlib import Path
import runpy
from types import SimpleNamespace

import pytest

from urlab_ros_bridge.cli.arguments import as_text
from urlab_ros_bridge.cli.errors import FileMissing
from urlab_ros_bridge.cli.nav2 import find_nav2
from urlab_ros_bridge.cli.nav2 import NAV2_ARGUMENTS
from urlab_ros_bridge.cli.nav2 import nav2_files
from urlab_ros_bridge.cli.nav2 import Nav2NotFound
from urlab_ros_bridge.cli.nav2 import NoNav2File
from urlab_ros_bridge.cli.processes import READY_LINE
from urlab_ros_bridge.cli.shipped import shipped_file

LAUNCH_FILE = shipped_file('launch/nav2.launch.py')
DEFAULTS = {argument.name: as_text(argument.initial()) for argument in NAV2_ARGUMENTS}
# The arguments of nav2_bringup/launch/bringup_launch.py, and those that it compares as Python.
JAZZY = {
    'namespace',
    'use_namespace',
    'slam',
    'map',
    'use_sim_time',
    'params_file',
    'autostart',
    'use_composition',
    'use_respawn',
    'log_level',
    'use_localization',
}
KILTED = (JAZZY - {'use_namespace'}) | {
    'keepout_mask',
    'speed_mask',
    'graph',
    'use_keepout_zones',
    'use_speed_zones',
}
AS_PYTHON = {
    'slam',
    'use_composition',
    'use_localization',
    'use_keepout_zones',
    'use_speed_zones',
}
_spec = importlib.util.spec_from_file_location('recorder', shipped_file('test/launch/recorder.py'))
recorder = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(recorder)


class Launched:
    """The description made with the recording classes, and the actions of its function."""

    def __init__(self, **values):
        with recorder.recorded_launch() as self.classes:
            described = runpy.run_path(str(LAUNCH_FILE))['generate_launch_description']()
            self.actions = described.args[0]
            (opaque,) = self.of('OpaqueFunction')
            self.context = SimpleNamespace(launch_configurations={**DEFAULTS, **values})
            self.started = opaque.function(self.context)

    def of(self, name, actions=None):
        kind = self.classes[name]
        return [each for each in actions or self.actions if isinstance(each, kind)]

    def group(self):
        (group,) = self.of('GroupAction', self.started)
        return group.args[0]

    def settings(self):
        return dict(each.args for each in self.of('SetLaunchConfiguration', self.started))

    def told(self):
        """Return what the bring-up of Nav2 is told."""
        (bringup,) = self.of('IncludeLaunchDescription', self.group())
        return dict(bringup.launch_arguments)

    def bridge(self):
        """Return the node that starts when the server is ready."""
        handlers = [each.args[0] for each in self.of('RegisterEventHandler')]
        (ready,) = (h for h in handlers if isinstance(h, self.classes['OnProcessIO']))
        nodes = ready.on_stdout(SimpleNamespace(text=READY_LINE.encode()))
        (bridge,) = (node for node in nodes if node.executable == 'bridge')
        return bridge


@pytest.fixture(autouse=True)
def bringup(tmp_path, monkeypatch):
    """Put a package nav2_bringup into a prefix."""
    launch_file = tmp_path / 'share' / 'nav2_bringup' / 'launch' / 'bringup_launch.py'
    launch_file.parent.mkdir(parents=True)
    launch_file.write_text('')
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'/nowhere:{tmp_path}')
    return launch_file


def test_the_arguments_are_those_of_the_table():
    declared = {each.args[0]: each for each in Launched().of('DeclareLaunchArgument')}
    assert list(declared) == [argument.name for argument in NAV2_ARGUMENTS]
    assert {name: each.default_value for name, each in declared.items()} == DEFAULTS
    known = {'map', 'params_file', 'autostart', 'use_composition', 'use_respawn', 'use_sim_time'}
    assert known <= set(declared) and 'namespace' not in declared


@pytest.mark.parametrize('localization', ['ground_truth', 'amcl'])
@pytest.mark.parametrize('switch', ['true', 'false', 'True', 'False'])
def test_the_bring_up_is_told_what_it_knows_in_its_words(localization, switch, bringup):
    launched = Launched(
        localization=localization, use_composition=switch, use_respawn=switch, autostart=switch
    )
    told = launched.told()
    (include,) = launched.of('IncludeLaunchDescription', launched.group())
    assert include.args[0].args == (str(bringup),)
    assert JAZZY - {'use_namespace'} <= set(told) <= JAZZY | KILTED
    assert {told[name] for name in AS_PYTHON} <= {'True', 'False'}
    for name in ('use_composition', 'use_respawn', 'autostart'):
        assert told[name] == switch.capitalize()
    assert told['use_localization'] == str(localization == 'amcl')
    assert told['use_sim_time'] == 'True'
    assert Path(told['map']) == shipped_file('config/nav2/maps/rover.yaml')
    assert Path(told['params_file']) == shipped_file('config/nav2/rover.yaml')


def test_one_and_only_one_says_where_the_map_is():
    """With AMCL the bring-up serves the map and AMCL places it; else we do both."""
    truth, amcl = Launched(), Launched(localization='amcl')
    assert truth.settings() == {'publish_map_to_odom': 'true', 'namespace': ''}
    assert amcl.settings()['publish_map_to_odom'] == 'false'
    assert not amcl.of('Node', amcl.group())
    server, manager = truth.of('Node', truth.group())
    assert (server.package, server.executable) == ('nav2_map_server', 'map_server')
    assert server.parameters[1] == {
        'use_sim_time': True,
        'yaml_filename': truth.told()['map'],
    }
    assert manager.parameters[0]['node_names'] == [server.name]
    assert manager.parameters[0]['autostart'] is True
    for launched in (truth, amcl):
        parameters = launched.bridge().parameters
        # The parameters of Nav2 have the name that those of the bridge have elsewhere.
        assert parameters[0].args == ('bridge_params_file',)
        assert parameters[1]['publish_map_to_odom'].args[0].args == ('publish_map_to_odom',)


def test_nothing_is_started_before_it_is_known_that_nav2_is_there():
    launched = Launched()
    kinds = [type(each).__name__ for each in launched.actions]
    rest = kinds[kinds.index('OpaqueFunction') :]
    assert {'ExecuteProcess', 'Node'} & set(rest) and 'DeclareLaunchArgument' not in rest
    assert not {'ExecuteProcess', 'Node'} & set(kinds[: kinds.index('OpaqueFunction')])


def test_without_nav2_the_line_that_installs_it_is_said(bringup, monkeypatch):
    bringup.unlink()
    monkeypatch.setenv('ROS_DISTRO', 'kilted')
    wanted = 'sudo apt install ros-kilted-navigation2 ros-kilted-nav2-bringup'
    with pytest.raises(Nav2NotFound, match=wanted):
        Launched()
    with pytest.raises(Nav2NotFound, match='ros-DISTRO-nav2-bringup'):
        find_nav2({})


def test_files_of_other_worlds_must_be_given(tmp_path):
    mine = tmp_path / 'mine.yaml'
    mine.write_text('')
    values = {'world': 'rover', 'model': ''}
    assert nav2_files({**values, 'map': str(mine), 'params_file': ''})[0] == str(mine)
    with pytest.raises(NoNav2File, match=r'urlab map --world quadruped .* map:=quadruped.yaml'):
        nav2_files({**values, 'world': 'quadruped'})
    # A model is no bundled world, whatever its name.
    with pytest.raises(NoNav2File, match=r'urlab map --model my/rover.xml'):
        nav2_files({**values, 'model': 'my/rover.xml'})
    with pytest.raises(NoNav2File, match=r'copy config/nav2/rover.yaml'):
        nav2_files({**values, 'model': 'my/rover.xml', 'map': str(mine)})
    with pytest.raises(FileMissing, match='map: there is no file'):
        nav2_files({**values, 'map': str(tmp_path / 'none.yaml')})


@pytest.mark.skipif(not recorder.launch_is_installed(), reason='needs launch')
def test_the_real_launch_takes_the_description():
    described = runpy.run_path(str(LAUNCH_FILE))['generate_launch_description']()
    names = [argument.name for argument in described.get_launch_arguments()]
    assert names == [argument.name for argument in NAV2_ARGUMENTS]
