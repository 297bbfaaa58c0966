# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Ports, their offset, and conflicting arguments."""

import pytest

from urlab_ros_bridge.cli.arguments.argument import read_arguments
from urlab_ros_bridge.cli.arguments.argument import Spelling
from urlab_ros_bridge.cli.arguments.suite import SuiteArguments
from urlab_ros_bridge.cli.errors import BadArgument


@pytest.mark.parametrize(
    ('texts', 'problem'),
    [
        ({'port_offset': '60000'}, r'^port_offset: rpc_port would be 65559, and the last port is'),
        ({'state_port': '5559'}, r'^state_port: 5559 is already used by rpc_port'),
        ({'namespace': 'a-b'}, r"^namespace: 'a-b' is not a ROS namespace"),
    ],
)
def test_conflicting_arguments_are_reported_at_one_of_them(texts, problem):
    with pytest.raises(BadArgument, match=problem):
        read_arguments(SuiteArguments, texts, Spelling.LAUNCH)
