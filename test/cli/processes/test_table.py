# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from pathlib import Path
import re

import pytest

from urlab_ros_bridge.cli.arguments.argument import arguments_of
from urlab_ros_bridge.cli.arguments.parser import parse
from urlab_ros_bridge.cli.arguments.suite import SuiteArguments
from urlab_ros_bridge.cli.commands import bridge
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
    used = {'namespace', 'log_level', 'use_respawn'}
    for process in PROCESSES:
        used |= {name for _, name in (*process.options, *process.ros_parameters)}
        used |= {process.params_file, process.only_if, process.unless}
    assert set(DEFAULTS) <= used


def test_the_bridge_gets_the_ports_and_address_of_the_server():
    values = {
        **DEFAULTS,
        'rpc_port': 6001,
        'state_port': 6002,
        'port_offset': 10,
        'bind': '0.0.0.0',
    }
    command = command_line(BY_NAME['bridge'], values)
    words = bridge.node_arguments(parse(bridge.COMMAND, command[4:]))
    assert {'host:=127.0.0.1', 'rpc_port:=6011', 'state_port:=6012'} <= set(words)


def test_a_node_gets_namespace_log_level_and_parameters():
    values = {**DEFAULTS, 'namespace': 'sim', 'log_level': 'debug', 'params_file': '/x.yaml'}
    words = command_line(BY_NAME['bridge'], values)
    ros = words[words.index('--ros-args') :]
    assert ' '.join(ros) == ('--ros-args --log-level debug -r __ns:=/sim --params-file /x.yaml')
    words = command_line(BY_NAME['rviz'], {**DEFAULTS, 'use_sim_time': False})
    assert words[-2:] == ['-p', 'use_sim_time:=false']


@pytest.mark.parametrize(
    ('values', 'rviz', 'parameters'),
    [
        ({}, 'rover.rviz', ''),
        ({'world': 'fleet'}, 'fleet.rviz', 'fleet.yaml'),
        ({'world': 'mine'}, 'default.rviz', ''),
        ({'world': 'fleet', 'model': 'fleet.xml'}, 'default.rviz', ''),
    ],
)
def test_files_are_those_of_the_world_unless_given(values, rviz, parameters):
    values = {**DEFAULTS, **values}
    (option,) = own_arguments(BY_NAME['rviz'], values)
    flag, _, path = option.partition('=')
    assert (flag, Path(path).name, Path(path).is_file()) == ('--display-config', rviz, True)
    words = command_line(BY_NAME['bridge'], values)
    # The defaults are in the node: a file of them would win over those of a launch file.
    assert ('--params-file' in words) == bool(parameters)
    if parameters:
        path = Path(words[words.index('--params-file') + 1])
        assert (path.name, path.is_file()) == (parameters, True)
    values |= {'rviz_config': 'my.rviz', 'params_file': 'my.yaml'}
    assert own_arguments(BY_NAME['rviz'], values) == ['--display-config=my.rviz']
    words = command_line(BY_NAME['bridge'], values)
    assert words[words.index('--params-file') + 1] == 'my.yaml'


@pytest.mark.parametrize(
    ('rviz', 'headless', 'wanted'),
    [(True, False, True), (True, True, False), (False, False, False)],
)
def test_rviz_is_started_when_asked_for_and_never_headless(rviz, headless, wanted):
    values = {**DEFAULTS, 'rviz': rviz, 'headless': headless}
    assert is_wanted(BY_NAME['rviz'], values) is wanted
    assert is_wanted(BY_NAME['server'], values) and is_wanted(BY_NAME['bridge'], values)


@pytest.mark.parametrize(
    ('name', 'ports'),
    [
        ('chiral', {'rpc_port': 'rpc_port', 'port': 'chiral_port'}),
        ('simspark', {'port': 'simspark_port', 'monitor_port': 'monitor_port'}),
        ('webxr', {'rpc_port': 'rpc_port', 'port': 'webxr_port'}),
    ],
)
def test_a_gateway_is_started_when_asked_for_and_stays_on_loopback(name, ports):
    """Also beside a server that is open to the network: here it has no token."""
    process = BY_NAME[name]
    values = {**DEFAULTS, name: True, 'bind': '0.0.0.0', 'port_offset': 10}
    assert is_wanted(process, values) and not is_wanted(process, DEFAULTS)
    parsed = parse(find_command(name), own_arguments(process, values)).values
    assert parsed.bind == '127.0.0.1'
    for own, given in ports.items():
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
