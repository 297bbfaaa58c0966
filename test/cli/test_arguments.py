# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.cli.arguments import Argument
from urlab_ros_bridge.cli.arguments import as_text
from urlab_ros_bridge.cli.arguments import BRIDGE_ARGUMENTS
from urlab_ros_bridge.cli.arguments import DOCTOR_ARGUMENTS
from urlab_ros_bridge.cli.arguments import SERVER_ARGUMENTS
from urlab_ros_bridge.cli.arguments import UP_ARGUMENTS
from urlab_ros_bridge.cli.errors import BadArgument

TABLES = (SERVER_ARGUMENTS, BRIDGE_ARGUMENTS, UP_ARGUMENTS, DOCTOR_ARGUMENTS)
ALL = [argument for table in TABLES for argument in table]
PORT = next(a for a in ALL if a.name == 'rpc_port')
SWITCH = next(a for a in ALL if a.name == 'paused')


def test_the_contract_of_names_of_the_server():
    flags = {argument.flag: argument.default for argument in SERVER_ARGUMENTS}
    assert {'--world', '--model', '--prefix', '--actor-id', '--data-dir'} <= set(flags)
    assert flags['--bind'] == '127.0.0.1'
    assert (flags['--rpc-port'], flags['--state-port'], flags['--camera-port']) == (
        5559,
        5555,
        5558,
    )
    assert (flags['--control-port'], flags['--info-port']) == (5556, 5557)
    assert flags['--step-mode'] == 'auto'
    assert flags['--paused'] is False
    modes = next(a for a in SERVER_ARGUMENTS if a.name == 'step_mode').choices
    assert modes == ('auto', 'live', 'direct', 'puppet')


def test_the_launch_arguments_have_the_names_that_nav2_users_know():
    names = {argument.name for argument in UP_ARGUMENTS}
    assert names >= {
        'namespace',
        'use_sim_time',
        'params_file',
        'rviz',
        'headless',
        'use_respawn',
        'log_level',
        'world',
        'model',
        'step_mode',
    }


@pytest.mark.parametrize('table', TABLES)
def test_names_are_unique_and_every_text_is_a_sentence(table):
    names = [argument.name for argument in table]
    assert len(set(names)) == len(names)
    for argument in table:
        assert argument.text[0].isalpha() and argument.text.endswith('.')


@pytest.mark.parametrize('argument', ALL, ids=lambda a: a.name)
def test_a_default_written_as_text_parses_to_itself(argument):
    assert argument.parse(as_text(argument.initial())) == argument.initial()


@given(st.integers(0, 65535))
def test_every_port_parses_to_itself(port):
    assert PORT.parse(str(port)) == port


@given(st.one_of(st.integers(65536), st.integers(max_value=-1), st.floats(), st.text()))
def test_what_is_no_port_is_refused_with_the_value_named(value):
    text = str(value)
    if text.isascii() and text.isdigit() and int(text) <= 65535:
        return
    with pytest.raises(BadArgument) as caught:
        PORT.parse(text)
    assert repr(text) in str(caught.value) and '--rpc-port' in str(caught.value)


@pytest.mark.parametrize('word', ['True', 'true', '1', 'yes', 'ON'])
def test_words_for_true(word):
    assert SWITCH.parse(word) is True
    assert SWITCH.parse({'1': '0', 'yes': 'no', 'ON': 'OFF'}.get(word, 'False')) is False


def test_a_word_outside_the_choices_is_refused_and_the_choices_listed():
    argument = Argument('step_mode', 'Text.', 'auto', ('auto', 'live'))
    with pytest.raises(BadArgument, match=r"'warp'.*auto, live"):
        argument.parse('warp')


@pytest.mark.parametrize('text', ['nan', 'inf', '-1', 'soon', ''])
def test_a_time_is_a_finite_number_of_seconds(text):
    with pytest.raises(BadArgument):
        Argument('timeout', 'Text.', 1.0).parse(text)
