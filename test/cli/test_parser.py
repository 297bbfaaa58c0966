# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.cli.arguments import UP_ARGUMENTS
from urlab_ros_bridge.cli.commands import COMMANDS
from urlab_ros_bridge.cli.errors import UnknownArgument
from urlab_ros_bridge.cli.parser import from_launch_style
from urlab_ros_bridge.cli.parser import make_parser
from urlab_ros_bridge.cli.parser import plain_errors
from urlab_ros_bridge.cli.parser import split_ros_arguments
from urlab_ros_bridge.wire.errors import UrlabError

WORDS = st.lists(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1))
OUR_WORDS = WORDS.filter(lambda words: '--ros-args' not in words)
ROS_WORDS = OUR_WORDS.filter(lambda words: '--' not in words)


@pytest.mark.parametrize('command', COMMANDS.values(), ids=COMMANDS)
def test_help_names_every_argument_its_default_and_the_examples(command):
    text = ' '.join(make_parser(command).format_help().split())
    for argument in command.arguments:
        assert argument.flag in text
        if argument.shown_default():
            assert f'[{argument.shown_default()}]' in text
    for line, purpose in command.examples:
        assert line in text and purpose in text


@pytest.mark.parametrize('command', COMMANDS.values(), ids=COMMANDS)
def test_the_examples_are_valid_command_lines(command):
    for line, _ in command.examples:
        # The address of a server is a word of its own, which its command adds to the parser.
        given = [word for word in line.split()[2:] if not word.startswith('tcp://')]
        words = from_launch_style(given, command.arguments)
        make_parser(command).parse_args(split_ros_arguments(words)[0])


def test_launch_style_means_the_same_as_options():
    parser = make_parser(COMMANDS['up'])
    launch = ['world:=quadruped', 'rviz:=True', 'rpc_port:=6001', 'model:=a b.xml']
    options = ['--world', 'quadruped', '--rviz', '--rpc-port=6001', '--model', 'a b.xml']
    assert parser.parse_args(from_launch_style(launch, UP_ARGUMENTS)) == parser.parse_args(options)


def test_launch_style_leaves_ros_words_alone_and_refuses_unknown_names():
    words = ['paused:=true', '--ros-args', '-p', 'clock_rate:=5.0']
    assert from_launch_style(words, UP_ARGUMENTS) == ['--paused=true', *words[1:]]
    with pytest.raises(UnknownArgument, match=r"'wrold'.*world"):
        from_launch_style(['wrold:=x'], UP_ARGUMENTS)


@given(OUR_WORDS, ROS_WORDS, OUR_WORDS)
def test_ros_words_run_to_the_double_dash(before, ros, after):
    words = [*before, '--ros-args', *ros, '--', *after]
    assert split_ros_arguments(words) == ([*before, *after], ros)


@given(WORDS)
def test_no_word_is_lost_but_the_marks(words):
    ours, ros = split_ros_arguments(words)
    kept = [word for word in words if word not in ('--ros-args', '--')]
    assert sorted(w for w in [*ours, *ros] if w not in ('--ros-args', '--')) == sorted(kept)


def test_a_user_error_is_one_message_and_code_2(capsys):
    @plain_errors
    def main(argv):
        raise UrlabError('the cat is on the mat')

    assert main([]) == 2
    assert capsys.readouterr().err == 'error: the cat is on the mat\n'


def test_a_bug_is_not_hidden():
    @plain_errors
    def main(argv):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        main([])
