# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import os
import socket

import pytest

from urlab_ros_bridge.cli.processes.ports import can_bind
from urlab_ros_bridge.cli.processes.ports import commands_of_holders
from urlab_ros_bridge.cli.processes.ports import port_holder


@pytest.fixture
def taken():
    with socket.socket() as holder:
        holder.bind(('127.0.0.1', 0))
        holder.listen(1)
        yield holder.getsockname()[1]


@pytest.mark.parametrize('address', ['127.0.0.1', '0.0.0.0', '*', 'localhost'])
def test_a_taken_port_is_seen_and_its_holder_named(taken, address):
    assert not can_bind(address, taken)
    assert f'(pid {os.getpid()})' in port_holder(taken)
    (command,) = commands_of_holders(taken)
    assert 'python' in command
