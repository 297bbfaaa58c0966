# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from dataclasses import dataclass

import pytest

from urlab_ros_bridge.cli.arguments.argument import Arguments
from urlab_ros_bridge.cli.arguments.argument import arguments_of
from urlab_ros_bridge.cli.arguments.argument import as_text
from urlab_ros_bridge.cli.arguments.argument import read_arguments
from urlab_ros_bridge.cli.arguments.argument import Spelling
from urlab_ros_bridge.cli.arguments.suite import SuiteArguments
from urlab_ros_bridge.cli.commands import all_commands
from urlab_ros_bridge.cli.errors import BadArgument
from urlab_ros_bridge.cli.errors import UnknownArgument
from urlab_ros_bridge.cli.processes.nav2 import Nav2Arguments
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.schema import KeyProblem

SECTIONS = [SuiteArguments, Nav2Arguments, *(each.section for each in all_commands().values())]
ALL = [argument for section in SECTIONS for argument in arguments_of(section).values()]
UP = arguments_of(SuiteArguments)


@dataclass(frozen=True, kw_only=True)
class Left(Arguments):
    left: int = key(1, 'Left.', low=0)
    file: str = key('', 'File.', path=True)

    def check(self):
        if self.left > 8:
            raise KeyProblem('left', 'is too much')


@dataclass(frozen=True, kw_only=True)
class Both(Left, Arguments):
    last: float = key(0.5, 'Last.')
    must: str = key(text='A word.')


def test_the_contract_of_names_of_the_server():
    server = arguments_of(all_commands()['server'].section)
    flags = {argument.flag: argument.default for argument in server.values()}
    assert {'--world', '--model', '--prefix', '--actor-id', '--data-dir'} <= set(flags)
    assert flags['--bind'] == '127.0.0.1'
    ports = ('rpc', 'state', 'control', 'info', 'camera')
    assert [flags[f'--{name}-port'] for name in ports] == [5559, 5555, 5556, 5557, 5558]
    assert flags['--step-mode'] == 'auto' and flags['--paused'] is False
    assert server['step_mode'].choices == ('auto', 'live', 'direct', 'puppet')


@pytest.mark.parametrize('argument', ALL, ids=lambda a: a.name)
def test_a_default_written_as_text_reads_as_itself(argument):
    if argument.initial() is not None:
        assert argument.value_of(as_text(argument.initial())) == argument.initial()


def test_missing_and_unknown_arguments_are_named():
    with pytest.raises(BadArgument, match=r'^--must: .*A word\.'):
        read_arguments(Both, {})
    with pytest.raises(UnknownArgument, match=r"'lefd'.*'left'"):
        read_arguments(Both, {'lefd': '1'}, Spelling.LAUNCH)
    with pytest.raises(UnknownArgument, match='--left, --file, --last, --must'):
        read_arguments(Both, {'zzz': '1'})


def test_an_invalid_choice_is_refused_with_the_nearest_valid_one():
    with pytest.raises(BadArgument, match=r"'lve'.*'live'"):
        UP['step_mode'].value_of('lve')
    with pytest.raises(BadArgument, match="'maybe'"):
        UP['paused'].value_of('maybe')
