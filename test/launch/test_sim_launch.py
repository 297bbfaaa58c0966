# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The launch file starts what `urlab up` starts: same arguments, processes, command lines."""

from dataclasses import asdict
import os
import runpy
import signal
import sys
from types import SimpleNamespace

import pytest

from test.launch import recorder
from urlab_ros_bridge import interpreters
from urlab_ros_bridge.cli.arguments.argument import arguments_of
from urlab_ros_bridge.cli.arguments.argument import as_text
from urlab_ros_bridge.cli.arguments.parser import parse
from urlab_ros_bridge.cli.arguments.suite import SuiteArguments
from urlab_ros_bridge.cli.commands import bridge
from urlab_ros_bridge.cli.commands import find_command
from urlab_ros_bridge.cli.errors import BadArgument
from urlab_ros_bridge.cli.errors import ProcessDied
from urlab_ros_bridge.cli.errors import UnknownArgument
from urlab_ros_bridge.cli.processes import preflight
from urlab_ros_bridge.cli.processes import table
from urlab_ros_bridge.cli.processes.table import command_line
from urlab_ros_bridge.cli.processes.table import PROCESSES
from urlab_ros_bridge.files.folders import shipped_file
from urlab_ros_bridge.lifeline import tied
from urlab_ros_bridge.transport.keys import KeysUnusable

LAUNCH_FILE = shipped_file('launch/sim.launch.py')
OTHERS = (
    'world:=quadruped', 'bind:=0.0.0.0', 'insecure:=true', 'rpc_port:=6001', 'state_port:=6002',
    'port_offset:=30',
    'paused:=True', 'namespace:=sim', f'params_file:={shipped_file("config/bridge.yaml")}',
    'log_level:=warn',
)  # fmt: skip
CONTROLLERS = f'controllers:={shipped_file("config/ros2_control/rover.yaml")}'
EVERYTHING = (
    'rviz:=true', CONTROLLERS, *(f'{p.only_if}:=true' for p in PROCESSES if p.is_gateway)
)  # fmt: skip


def launched(*words):
    return recorder.Launched(LAUNCH_FILE, *words)


def values_of(*words):
    pairs = (word.split(':=', 1) for word in words)
    options = [f'--{name.replace("_", "-")}={value}' for name, value in pairs]
    return asdict(parse(find_command('up'), options).values)


@pytest.fixture(autouse=True)
def machine(tmp_path, monkeypatch):
    """RViz, all packages of Python, those of ros2_control, and free ports."""
    monkeypatch.setattr(table, 'find_program', lambda *args: '/opt/rviz2')
    monkeypatch.setattr(interpreters, 'missing_in', lambda python, names: ())
    monkeypatch.setattr(preflight, 'can_bind', lambda address, port: True)
    for name in ('controller_manager', 'joint_state_topic_hardware_interface'):
        (tmp_path / 'share' / name).mkdir(parents=True)
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))


def test_the_arguments_are_those_of_urlab_up():
    declared = launched().declared
    known = arguments_of(SuiteArguments)
    assert list(declared) == list(known)
    for name, argument in known.items():
        action = declared[name]
        assert action.default_value == as_text(argument.initial())
        if argument.is_switch:
            assert all(type(argument.value_of(word)) is bool for word in action.choices)
        else:
            assert action.choices == (list(argument.choices) or None)


@pytest.mark.parametrize('words', [(), OTHERS])
def test_server_and_bridge_are_those_of_urlab_up_and_die_with_launch(words):
    tie, values = tied([], hold_interrupt=True), values_of(*words)
    assert str(os.getpid()) in tie
    programs = launched(*words).programs()
    server, line = (recorder.words_of(programs[name]) for name in ('server', 'bridge'))
    assert server == tied(command_line(PROCESSES[0], values), hold_interrupt=True)
    assert line[: len(tie)] == tie
    ours, theirs = (
        bridge.node_arguments(parse(bridge.COMMAND, each[4:]))
        for each in (line[len(tie) :], command_line(PROCESSES[1], values))
    )
    assert ours == theirs


def test_launch_fails_when_a_vital_process_ends_by_itself():
    run = launched(*EVERYTHING)
    programs = run.programs()
    ends = {id(handler.target_action): handler for handler in run.handlers('OnProcessExit')}
    running, ending = SimpleNamespace(is_shutdown=False), SimpleNamespace(is_shutdown=True)
    for process in PROCESSES:
        program = programs[process.name]
        assert (id(program) in ends) == process.vital
        if process.vital:
            assert program.respawn is False
            on_exit = ends[id(program)].on_exit
            with pytest.raises(ProcessDied, match=process.name):
                on_exit(SimpleNamespace(returncode=0), running)
            assert on_exit(SimpleNamespace(returncode=0), ending) is None
            # Ctrl-C, which the process got before launch.
            end = on_exit(SimpleNamespace(returncode=-signal.SIGINT), running)
            assert isinstance(end, run.classes['Shutdown'])


def test_controllers_start_with_what_they_need_of_the_bridge():
    programs = launched(CONTROLLERS, 'namespace:=sim').programs()
    manager, spawner = programs['controller_manager'], programs['spawner']
    assert manager.parameters == [CONTROLLERS.partition(':=')[2], {'use_sim_time': True}]
    names = ['joint_state_broadcaster', 'diff_drive_controller']
    assert spawner.arguments[-len(names) :] == names
    assert {each.namespace for each in (manager, spawner)} == {'sim'}
    assert programs['bridge'].parameters == [{'ros2_control': True, 'clock_rate': 0.0}]


@pytest.mark.parametrize(
    ('word', 'error', 'value'),
    [
        ('wrld:=quadruped', UnknownArgument, 'wrld'),
        ('rpc_port:=abc', BadArgument, 'rpc_port'),
        ('keys:=/nope', KeysUnusable, '/nope'),
    ],
)
def test_an_invalid_argument_ends_launch_before_anything_starts(word, error, value):
    with pytest.raises(error, match=value):
        launched(word)


def test_the_arguments_of_a_file_that_includes_it_are_not_its_own(monkeypatch):
    with recorder.recorded_launch():
        described = runpy.run_path(str(LAUNCH_FILE))['generate_launch_description']()
    monkeypatch.setattr(sys, 'argv', ['ros2', 'launch', 'mine', 'robot.launch.py', 'pace:=3'])
    given = {'pace': '3', 'world': 'fleet'}
    check = described.args[0][0]
    check.function(SimpleNamespace(argv=['pace:=3'], launch_configurations=given))


def test_nodes_start_in_the_scope_of_the_file_that_includes_it():
    """What an event handler starts gets neither namespace nor remappings of that scope."""
    run = launched('rviz:=true', 'data_dir:=/tmp/data', 'allow_absolute_paths:=true')
    assert [(each.exec_name, each.namespace) for each in run.of('Node')] == [
        ('bridge', None),
        ('rviz', None),
    ]
    # No file with defaults that would win over parameters of the scope.
    expected = {'data_dir': '/tmp/data', 'allow_absolute_paths': True}
    assert run.of('Node')[0].parameters == [expected]
    assert not run.handlers('OnProcessIO')
