# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The launch file starts what `urlab up` starts: same arguments, processes, command lines."""

from dataclasses import asdict
import importlib.util
import os
import runpy
import signal
import sys
from types import SimpleNamespace

import pytest

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
_spec = importlib.util.spec_from_file_location('recorder', shipped_file('test/launch/recorder.py'))
recorder = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(recorder)


def launched(*words):
    return recorder.Launched(LAUNCH_FILE, *words)


def values_of(*words):
    pairs = (word.split(':=', 1) for word in words)
    options = [f'--{name.replace("_", "-")}={value}' for name, value in pairs]
    return asdict(parse(find_command('up'), options).values)


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    """No RViz, all packages, free ports; the tests say where it is otherwise."""
    monkeypatch.setattr(table, 'find_program', lambda *args: None)
    monkeypatch.setattr(preflight, 'is_importable', lambda name: True)
    monkeypatch.setattr(preflight, 'can_bind', lambda address, port: True)


@pytest.fixture
def rviz(monkeypatch):
    monkeypatch.setattr(table, 'find_program', lambda *args: '/opt/rviz2')


@pytest.fixture
def ros2_control(tmp_path, monkeypatch):
    """Put the packages of ros2_control into a prefix."""
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
        assert action.description.startswith(argument.text)
        if argument.by_world:
            assert argument.shown_default() in action.description
        if argument.is_switch:
            assert {action.default_value, 'True', 'yes', '0'} <= set(action.choices)
            assert all(type(argument.value_of(word)) is bool for word in action.choices)
        else:
            assert action.choices == (list(argument.choices) or None)


@pytest.mark.parametrize('words', [(), OTHERS])
def test_the_server_is_that_of_urlab_up_and_dies_with_launch(words):
    server = recorder.words_of(launched(*words).programs()['server'])
    assert server == tied(command_line(PROCESSES[0], values_of(*words)), hold_interrupt=True)
    assert str(os.getpid()) in server


@pytest.mark.parametrize('words', [(), OTHERS])
def test_the_bridge_ends_up_with_the_same_arguments_as_in_urlab_up(words):
    line = recorder.words_of(launched(*words).programs()['bridge'])
    upped = command_line(PROCESSES[1], values_of(*words))
    before = len(tied([], hold_interrupt=True))
    assert line[:before] == tied([], hold_interrupt=True)
    ours, theirs = (
        bridge.node_arguments(parse(bridge.COMMAND, each[4:])) for each in (line[before:], upped)
    )
    assert ours == theirs


def test_launch_fails_when_a_vital_process_ends_by_itself(rviz, ros2_control):
    run = launched(*EVERYTHING)
    programs = run.programs()
    ends = {id(handler.target_action): handler for handler in run.handlers('OnProcessExit')}
    running, ending = SimpleNamespace(is_shutdown=False), SimpleNamespace(is_shutdown=True)
    for process in PROCESSES:
        program = programs[process.name]
        assert (id(program) in ends) == process.vital == hasattr(program, 'respawn')
        if not process.vital:
            continue
        assert program.respawn is False
        on_exit = ends[id(program)].on_exit
        for code in (0, 1, 2, -signal.SIGKILL):
            event = SimpleNamespace(returncode=code)
            with pytest.raises(ProcessDied, match=process.name):
                on_exit(event, running)
            assert on_exit(event, ending) is None
        # Ctrl-C, which the process got before launch.
        end = on_exit(SimpleNamespace(returncode=-signal.SIGINT), running)
        assert isinstance(end, run.classes['Shutdown'])


def test_controllers_start_with_what_they_need_of_the_bridge(rviz, ros2_control):
    programs = launched(CONTROLLERS, 'namespace:=sim').programs()
    manager, spawner = programs['controller_manager'], programs['spawner']
    assert manager.parameters == [CONTROLLERS.partition(':=')[2], {'use_sim_time': True}]
    names = ['joint_state_broadcaster', 'diff_drive_controller']
    assert spawner.arguments[-len(names) :] == names
    assert {each.namespace for each in (manager, spawner)} == {'sim'}
    assert programs['bridge'].parameters == [{'ros2_control': True, 'clock_rate': 0.0}]
    assert not launched().programs()['bridge'].parameters


@pytest.mark.parametrize(
    ('word', 'error', 'message'),
    [
        ('wrld:=quadruped', UnknownArgument, "unknown argument 'wrld'; did you mean 'world'?"),
        ('rpc_port:=abc', BadArgument, 'rpc_port: must be a whole number'),
        ('keys:=/nope', KeysUnusable, '/nope/'),
    ],
)
def test_an_invalid_argument_ends_launch_before_anything_starts(word, error, message):
    with pytest.raises(error) as caught:
        launched(word)
    assert str(caught.value).startswith(message) and '\n' not in str(caught.value)


def test_the_arguments_of_a_file_that_includes_it_are_not_its_own(monkeypatch):
    with recorder.recorded_launch():
        described = runpy.run_path(str(LAUNCH_FILE))['generate_launch_description']()
    check = described.args[0][0]
    monkeypatch.setattr(sys, 'argv', ['ros2', 'launch', 'mine', 'robot.launch.py', 'pace:=3'])
    given = {'pace': '3', 'world': 'fleet'}
    check.function(SimpleNamespace(argv=['pace:=3'], launch_configurations=given))
    given['world'] = 'mars'
    with pytest.raises(BadArgument, match='mars'):
        check.function(SimpleNamespace(argv=['pace:=3'], launch_configurations=given))


def test_nodes_start_in_the_scope_of_the_file_that_includes_it(rviz):
    """What an event handler starts gets neither namespace nor remappings of that scope."""
    run = launched('rviz:=true', 'data_dir:=/tmp/data')
    bridge, rviz_node = run.of('Node')
    assert (bridge.exec_name, bridge.namespace) == ('bridge', None)
    # No file with defaults that would win over parameters of the scope.
    assert bridge.parameters == [{'data_dir': '/tmp/data'}]
    assert (rviz_node.exec_name, rviz_node.namespace) == ('rviz', None)
    assert launched().of('Node')[0].parameters == []
    assert not run.handlers('OnProcessIO')
