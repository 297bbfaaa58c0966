# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.cli.arguments.parser import parse
from urlab_ros_bridge.cli.arguments.parser import split_ros_arguments
from urlab_ros_bridge.cli.commands import all_commands

COMMANDS = all_commands()
UP = COMMANDS['up']
WORDS = st.lists(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1))
OUR_WORDS = WORDS.filter(lambda words: '--ros-args' not in words)
ROS_WORDS = OUR_WORDS.filter(lambda words: '--' not in words)


@pytest.mark.parametrize('command', COMMANDS.values(), ids=COMMANDS)
def test_the_examples_are_valid_command_lines(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for line, _ in command.examples:
        words = [word.strip('"') for word in line.split()[2:]]
        for word in words:
            if word.endswith(('.xml', '.yaml', '.urdf', '.xacro')):
                (tmp_path / word).touch()
        parse(command, words)


def test_a_repeatable_option_may_hold_assignments():
    words = ['--xacro-arg', 'prefix:=a_', '--xacro-arg=arm:=true']
    options = parse(UP, words).values.import_options()
    assert options.xacro_arguments == {'prefix': 'a_', 'arm': 'true'}


@given(OUR_WORDS, ROS_WORDS, OUR_WORDS)
def test_ros_arguments_end_at_the_double_dash(before, ros, after):
    words = [*before, '--ros-args', *ros, '--', *after]
    assert split_ros_arguments(words) == ([*before, *after], ros)
