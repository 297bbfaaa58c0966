# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Ports, their offset, and conflicting arguments."""

from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.cli.arguments.argument import read_arguments
from urlab_ros_bridge.cli.arguments.argument import Spelling
from urlab_ros_bridge.cli.arguments.groups import LAST_PORT
from urlab_ros_bridge.cli.arguments.groups import ServerPorts
from urlab_ros_bridge.cli.arguments.suite import SuiteArguments
from urlab_ros_bridge.cli.errors import BadArgument

PORTS = ('rpc_port', 'state_port', 'camera_port', 'control_port', 'info_port')


@given(st.integers(0, LAST_PORT - 5559))
def test_an_offset_moves_every_port_by_the_same(offset):
    values = read_arguments(ServerPorts, {'port_offset': str(offset)})
    assert values.port_names() == list(PORTS)
    assert {values.moved(name) - getattr(values, name) for name in PORTS} == {offset}


@pytest.mark.parametrize(
    ('texts', 'problem'),
    [
        ({'port_offset': '60000'}, r'^port_offset: rpc_port would be 65559, and the last port is'),
        ({'state_port': '5559'}, r'^state_port: 5559 is already used by rpc_port'),
        ({'rpc_port': '0'}, r'^rpc_port: must be a port from 1 to 65535, not 0'),
        ({'world': 'fleet', 'model': __file__}, r'^model: world and model are mutually exclusive'),
        ({'namespace': 'a-b'}, r"^namespace: 'a-b' is not a ROS namespace"),
    ],
)
def test_conflicting_arguments_are_reported_at_one_of_them(texts, problem):
    with pytest.raises(BadArgument, match=problem):
        read_arguments(SuiteArguments, texts, Spelling.LAUNCH)
