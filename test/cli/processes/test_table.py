# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from pathlib import Path
import re

import pytest

from urlab_ros_bridge.cli.arguments.argument import arguments_of
from urlab_ros_bridge.cli.arguments.parser import parse
from urlab_ros_bridge.cli.arguments.suite import SuiteArguments
from urlab_ros_bridge.cli.commands import find_command
from urlab_ros_bridge.cli.processes.table import command_line
from urlab_ros_bridge.cli.processes.table import environment
from urlab_ros_bridge.cli.processes.table import is_wanted
from urlab_ros_bridge.cli.processes.table import own_arguments
from urlab_ros_bridge.cli.processes.table import PROCESSES
from urlab_ros_bridge.cli.processes.table import PROFILE_VARIABLES
from urlab_ros_bridge.kept_memory import allocator_variables

BY_NAME = {process.name: process for process in PROCESSES}
DEFAULTS = {name: item.initial() for name, item in arguments_of(SuiteArguments).items()}


def test_every_argument_has_an_effect():
    used = {'namespace', 'log_level', 'use_respawn', 'python'}
    for process in PROCESSES:
        used |= {name for _, name in (*process.options, *process.ros_parameters)}
        used |= {process.params_file, process.only_if, process.unless}
    assert set(DEFAULTS) <= used


def test_a_node_gets_namespace_log_level_and_parameters():
    values = {**DEFAULTS, 'namespace': 'sim', 'log_level': 'debug', 'params_file': '/x.yaml'}
    words = command_line(BY_NAME['bridge'], values)
    ros = words[words.index('--ros-args') :]
    assert ' '.join(ros) == '--ros-args --log-level DEBUG -r __ns:=/sim --params-file /x.yaml'
    words = command_line(BY_NAME['rviz'], {**DEFAULTS, 'use_sim_time': False})
    assert words[-2:] == ['-p', 'use_sim_time:=false']


@pytest.mark.parametrize(
    ('values', 'rviz', 'parameters'),
    [
        ({}, 'rover.rviz', []),
        ({'world': 'fleet'}, 'fleet.rviz', ['fleet.yaml']),
        ({'world': 'fleet', 'model': 'fleet.xml'}, 'default.rviz', []),
        ({'rviz_config': 'my.rviz'}, 'my.rviz', []),
    ],
)
def test_files_are_those_of_the_world_unless_given(values, rviz, parameters):
    values = {**DEFAULTS, **values}
    (option,) = own_arguments(BY_NAME['rviz'], values)
    assert option.startswith('--display-config=') and Path(option).name.endswith(rviz)
    words = command_line(BY_NAME['bridge'], values)
    # The defaults are in the node: a file of them would win over those of a launch file.
    files = [Path(word) for word in words if word.endswith('.yaml')]
    assert [file.name for file in files if file.is_file()] == parameters


def test_rviz_is_started_when_asked_for_and_never_headless():
    rviz, values = BY_NAME['rviz'], {**DEFAULTS, 'rviz': True}
    assert is_wanted(rviz, values) and is_wanted(BY_NAME['bridge'], DEFAULTS)
    assert not is_wanted(rviz, {**values, 'headless': True}) and not is_wanted(rviz, DEFAULTS)


@pytest.mark.parametrize('name', ['chiral', 'simspark', 'webxr'])
def test_a_gateway_is_started_when_asked_for_and_stays_on_loopback(name):
    """Also beside a server that is open to the network: here it has no token."""
    process = BY_NAME[name]
    values = {**DEFAULTS, name: True, 'bind': '0.0.0.0', 'port_offset': 10}
    assert is_wanted(process, values) and not is_wanted(process, DEFAULTS)
    parsed = parse(find_command(name), own_arguments(process, values)).values
    assert parsed.bind == '127.0.0.1'
    for own, given in (('rpc_port', 'rpc_port'), ('port', f'{name}_port')):
        assert parsed.moved(own) == values[given] + 10


def test_what_the_user_has_set_stays():
    added = environment({})
    profile = Path(added[PROFILE_VARIABLES[0]])
    assert all(added[name] == str(profile) for name in PROFILE_VARIABLES)
    assert re.search(r'<segment_size>\d{8}<', profile.read_text())
    kept = allocator_variables()
    assert {name: added[name] for name in kept} == kept
    mine = {PROFILE_VARIABLES[1]: '/mine.xml', 'PYTHONUNBUFFERED': '1'}
    assert environment(mine | dict.fromkeys(kept, '0')) == {}
