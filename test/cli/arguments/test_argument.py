# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0

from urlab_ros_bridge.cli.arguments.argument import arguments_of
from urlab_ros_bridge.cli.arguments.argument import as_text
from urlab_ros_bridge.cli.arguments.suite import SuiteArguments
from urlab_ros_bridge.cli.commands import all_commands
from urlab_ros_bridge.cli.processes.nav2 import Nav2Arguments

SECTIONS = [SuiteArguments, Nav2Arguments, *(each.section for each in all_commands().values())]
ALL = [argument for section in SECTIONS for argument in arguments_of(section).values()]


def test_the_contract_of_names_of_the_server():
    server = arguments_of(all_commands()['server'].section)
    flags = {argument.flag: argument.default for argument in server.values()}
    assert {'--world', '--model', '--prefix', '--actor-id', '--data-dir'} <= set(flags)
    assert flags['--bind'] == '127.0.0.1'
    ports = ('rpc', 'state', 'control', 'info', 'camera')
    assert [flags[f'--{name}-port'] for name in ports] == [5559, 5555, 5556, 5557, 5558]
    assert flags['--step-mode'] == 'auto' and flags['--paused'] is False
    assert server['step_mode'].choices == ('auto', 'live', 'direct', 'puppet')


def test_a_default_written_as_text_reads_as_itself():
    for argument in ALL:
        default = argument.initial()
        assert default is None or argument.value_of(as_text(default)) == default, argument.name
