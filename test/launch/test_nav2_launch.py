# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The launch file of Nav2: the arguments of the bring-up of Nav2, and what it starts beside it."""

from pathlib import Path

import pytest

from test.launch import recorder
from urlab_ros_bridge import interpreters
from urlab_ros_bridge.cli.processes import preflight
from urlab_ros_bridge.files.folders import shipped_file

LAUNCH_FILE = shipped_file('launch/nav2.launch.py')
# Arguments of nav2_bringup/launch/bringup_launch.py, and those that it compares as Python.
BRING_UP = {
    'namespace',
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
AS_PYTHON = {'slam', 'use_composition', 'use_localization', 'use_keepout_zones', 'use_speed_zones'}


class Launched(recorder.Launched):
    """What the launch file does, and what the bring-up of Nav2 gets from it."""

    def __init__(self, **values):
        super().__init__(LAUNCH_FILE, *(f'{name}:={text}' for name, text in values.items()))
        (group,) = self.of('GroupAction')
        self.group = group.args[0]
        (self.bringup,) = self.of('IncludeLaunchDescription', self.group)
        self.arguments = dict(self.bringup.launch_arguments)


@pytest.fixture(autouse=True)
def bringup(tmp_path, monkeypatch):
    """Put a package nav2_bringup into a prefix."""
    launch_file = tmp_path / 'share' / 'nav2_bringup' / 'launch' / 'bringup_launch.py'
    launch_file.parent.mkdir(parents=True)
    launch_file.write_text('')
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'/nowhere:{tmp_path}')
    monkeypatch.setattr(interpreters, 'missing_in', lambda python, names: ())
    monkeypatch.setattr(preflight, 'can_bind', lambda address, port: True)
    return launch_file


@pytest.mark.parametrize(('localization', 'switch'), [('ground_truth', 'true'), ('amcl', 'False')])
def test_the_bring_up_gets_its_own_launch_arguments(localization, switch, bringup):
    launched = Launched(
        localization=localization, use_composition=switch, use_respawn=switch, autostart=switch
    )
    arguments = launched.arguments
    assert not {'namespace', 'chiral', 'webxr'} & set(launched.declared)
    assert launched.bringup.args[0].args == (str(bringup),)
    assert set(arguments) >= BRING_UP
    assert {arguments[name] for name in AS_PYTHON} <= {'True', 'False'}
    for name in ('use_composition', 'use_respawn', 'autostart'):
        assert arguments[name] == switch.capitalize()
    assert arguments['use_localization'] == str(localization == 'amcl')
    assert arguments['use_sim_time'] == 'True'
    assert Path(arguments['map']) == shipped_file('config/nav2/maps/rover.yaml')
    assert Path(arguments['params_file']) == shipped_file('config/nav2/rover.yaml')


def test_exactly_one_node_publishes_map_to_odom():
    """With AMCL the bring-up serves the map and AMCL places it; else we do both."""
    truth, amcl = Launched(), Launched(localization='amcl')
    assert not amcl.of('Node', amcl.group)
    server, manager = truth.of('Node', truth.group)
    assert (server.package, server.executable) == ('nav2_map_server', 'map_server')
    assert server.parameters[1] == {'use_sim_time': True, 'yaml_filename': truth.arguments['map']}
    assert manager.parameters[0]['node_names'] == [server.name]
    for launched, knows in ((truth, True), (amcl, False)):
        bridge = launched.programs()['bridge']
        # The parameters of Nav2 have the name that those of the bridge have elsewhere.
        (values,) = bridge.parameters
        assert bridge.namespace is None
        assert (values['publish_map_to_odom'], values['publish_initialpose']) == (knows, not knows)
        # Several times the default: all nodes of Nav2 read /clock and /tf in threads of their own.
        assert values['jump_settle_time'] >= 0.3 and values['publish_map'] is False
