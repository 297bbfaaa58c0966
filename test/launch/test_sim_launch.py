# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The launch file says the same as `urlab up`: same arguments, processes, command lines."""

import importlib.util
from pathlib import Path
import runpy
from types import SimpleNamespace

import pytest

from urlab_ros_bridge.cli import bridge
from urlab_ros_bridge.cli.arguments import as_text
from urlab_ros_bridge.cli.arguments import UP_ARGUMENTS
from urlab_ros_bridge.cli.processes import command_line
from urlab_ros_bridge.cli.processes import environment
from urlab_ros_bridge.cli.processes import own_words
from urlab_ros_bridge.cli.processes import PROCESSES
from urlab_ros_bridge.cli.processes import READY_LINE
from urlab_ros_bridge.cli.shipped import shipped_file

LAUNCH_FILE = shipped_file('launch/sim.launch.py')
DEFAULTS = {argument.name: argument.initial() for argument in UP_ARGUMENTS}
OTHERS = {
    **DEFAULTS,
    'world': 'quadruped',
    'bind': '0.0.0.0',
    'rpc_port': 6001,
    'state_port': 6002,
    'paused': True,
    'namespace': 'sim',
    'params_file': str(shipped_file('config/bridge.yaml')),
    'log_level': 'warn',
}
_spec = importlib.util.spec_from_file_location('recorder', shipped_file('test/launch/recorder.py'))
recorder = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(recorder)


class Recorded:
    """The launch description made with the recording classes."""

    def __init__(self):
        with recorder.recorded_launch() as self.classes:
            described = runpy.run_path(str(LAUNCH_FILE))['generate_launch_description']()
        self.actions = described.args[0]

    def of(self, name):
        return [action for action in self.actions if isinstance(action, self.classes[name])]

    def handlers(self, name):
        inner = [action.args[0] for action in self.of('RegisterEventHandler')]
        return [handler for handler in inner if isinstance(handler, self.classes[name])]

    def programs(self):
        """Return the programs by name: those started at once, and those that wait."""
        found = self.of('ExecuteProcess')
        for handler in self.handlers('OnProcessIO'):
            found += handler.on_stdout(Said(READY_LINE.encode()))
        return {getattr(program, 'executable', None) or program.name: program for program in found}

    def text(self, value, values):
        """Return what a substitution or a list of them becomes with the given arguments."""
        if isinstance(value, self.classes['LaunchConfiguration']):
            return as_text(values[value.args[0]])
        if isinstance(value, self.classes['Substitution']):
            texts = {name: as_text(each) for name, each in values.items()}
            return value.perform(SimpleNamespace(launch_configurations=texts))
        if isinstance(value, list):
            return ''.join(self.text(part, values) for part in value)
        return str(value)


class Said:
    def __init__(self, text):
        self.text = text


@pytest.fixture
def described(monkeypatch):
    monkeypatch.setattr('urlab_ros_bridge.cli.processes.find_program', lambda *args: None)
    return Recorded()


@pytest.fixture
def with_rviz(monkeypatch):
    monkeypatch.setattr('urlab_ros_bridge.cli.processes.find_program', lambda *args: '/opt/rviz2')
    return Recorded()


def test_the_arguments_are_those_of_urlab_up(described):
    declared = {action.args[0]: action for action in described.of('DeclareLaunchArgument')}
    assert list(declared) == [argument.name for argument in UP_ARGUMENTS]
    for argument in UP_ARGUMENTS:
        action = declared[argument.name]
        assert action.default_value == as_text(argument.initial())
        assert action.description.startswith(argument.text)
        if argument.by_world:
            assert argument.shown_default() in action.description
        if argument.is_switch:
            assert action.default_value in action.choices and 'True' in action.choices
        else:
            assert action.choices == (list(argument.choices) or None)


@pytest.mark.parametrize('values', [DEFAULTS, OTHERS])
def test_the_command_line_of_the_server_is_that_of_urlab_up(described, values):
    words = [described.text(word, values) for word in described.programs()['server'].cmd]
    assert words == command_line(PROCESSES[0], values)


@pytest.mark.parametrize('values', [DEFAULTS, OTHERS])
def test_the_bridge_ends_up_with_the_same_arguments_as_in_urlab_up(described, values):
    node = described.programs()['bridge']
    own = [described.text(word, values) for word in node.arguments]
    # As launch_ros lays out a command line.
    ros = ['--ros-args', *(described.text(word, values) for word in node.ros_arguments)]
    if namespace := described.text(node.namespace, values):
        ros += ['-r', f'__ns:=/{namespace}']
    for file in node.parameters:
        ros += ['--params-file', described.text(file, values)]
    launched = bridge.node_arguments(*bridge.parse([*own, *ros]))
    upped = bridge.node_arguments(*bridge.parse(command_line(PROCESSES[1], values)[3:]))
    assert launched == upped


def test_every_process_has_the_environment_and_the_shutdown_time_of_the_table(with_rviz):
    programs = with_rviz.programs()
    assert set(programs) == {process.executable for process in PROCESSES}
    for program in programs.values():
        assert program.additional_env == environment()
        assert float(program.sigterm_timeout) + float(program.sigkill_timeout) == 5.0


def test_a_vital_process_takes_the_others_with_it_unless_it_respawns(with_rviz):
    programs = with_rviz.programs()
    ends = {id(handler.target_action): handler for handler in with_rviz.handlers('OnProcessExit')}
    for process in PROCESSES:
        program = programs[process.executable]
        assert (id(program) in ends) == process.vital == hasattr(program, 'respawn')
        if process.vital:
            (end,) = ends[id(program)].on_exit
            assert isinstance(end, with_rviz.classes['Shutdown'])
            assert isinstance(end.condition, with_rviz.classes['UnlessCondition'])
            assert end.condition.args[0].args == program.respawn.args == ('use_respawn',)


def test_the_bridge_starts_once_when_the_ready_line_has_come_even_in_pieces(described):
    (handler,) = described.handlers('OnProcessIO')
    assert handler.target_action is described.of('ExecuteProcess')[0]
    middle = len(READY_LINE) // 2
    assert handler.on_stdout(Said(b'loading the world\n')) is None
    assert handler.on_stdout(Said(READY_LINE[:middle].encode())) is None
    started = handler.on_stdout(Said(READY_LINE[middle:].encode()))
    assert [program.name for program in started[1:]] == ['chiral']
    assert started[0].executable == 'bridge'
    assert handler.on_stdout(Said(READY_LINE.encode())) is None


def test_rviz_is_started_under_its_condition(with_rviz):
    assert with_rviz.programs()['rviz2'].condition is not None
    assert not with_rviz.of('LogInfo')


@pytest.mark.parametrize('values', [DEFAULTS, OTHERS, {**OTHERS, 'rviz_config': '/my.rviz'}])
def test_rviz_gets_the_same_file_as_in_urlab_up(with_rviz, values):
    (rviz,) = (process for process in PROCESSES if process.name == 'rviz')
    node = with_rviz.programs()['rviz2']
    words = [with_rviz.text(word, values) for word in node.arguments]
    assert words == own_words(rviz, values)
    assert Path(words[0].partition('=')[2]).stem == (
        'my' if values['rviz_config'] else values['world']
    )


def test_rviz_that_is_not_installed_is_left_out_and_said_so(described):
    assert 'rviz2' not in described.programs()
    (info,) = described.of('LogInfo')
    assert 'rviz2' in info.msg and info.condition is not None


@pytest.mark.skipif(not recorder.launch_is_installed(), reason='needs launch')
def test_the_real_launch_takes_the_description():
    described = runpy.run_path(str(LAUNCH_FILE))['generate_launch_description']()
    names = [argument.name for argument in described.get_launch_arguments()]
    assert names == [argument.name for argument in UP_ARGUMENTS]
