# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import os
import re
import socket
import sys

from ports import free_ports
import pytest

from urlab_ros_bridge.cli.arguments.argument import read_arguments
from urlab_ros_bridge.cli.arguments.argument import Spelling
from urlab_ros_bridge.cli.arguments.suite import SuiteArguments
from urlab_ros_bridge.cli.errors import CliError
from urlab_ros_bridge.cli.errors import PortInUse
from urlab_ros_bridge.cli.processes.ports import can_bind
from urlab_ros_bridge.cli.processes.ports import commands_of_holders
from urlab_ros_bridge.cli.processes.ports import port_holder
from urlab_ros_bridge.cli.processes.preflight import check_packages
from urlab_ros_bridge.cli.processes.preflight import check_ports
from urlab_ros_bridge.cli.processes.table import PROCESSES

NAMES = (
    'rpc_port', 'state_port', 'camera_port', 'control_port', 'info_port', 'chiral_port',
    'simspark_port', 'monitor_port', 'webxr_port',
)  # fmt: skip


@pytest.fixture
def taken():
    with socket.create_server(('127.0.0.1', 0)) as holder:
        yield holder.getsockname()[1]


@pytest.mark.parametrize('address', ['127.0.0.1', '0.0.0.0', '*', 'localhost'])
def test_the_holder_of_a_taken_port_is_named(taken, address):
    assert not can_bind(address, taken)
    assert f'(pid {os.getpid()})' in port_holder(taken)
    (command,) = commands_of_holders(taken)
    assert 'python' in command


@pytest.mark.parametrize(
    ('spelling', 'name', 'remedy'),
    [
        (Spelling.OPTION, '--state-port', r'--port-offset (\d+)'),
        (Spelling.LAUNCH, 'state_port', r'port_offset:=(\d+)'),
    ],
)
def test_a_taken_port_is_named_once_with_its_holder_and_a_working_offset(
    taken, spelling, name, remedy
):
    ports = {'state_port': taken, **free_ports('rpc_port', 'camera_port')}
    values = read_arguments(SuiteArguments, {name: str(port) for name, port in ports.items()})
    with pytest.raises(PortInUse) as caught:
        check_ports(values, '127.0.0.1', spelling)
    message = str(caught.value)
    assert message.startswith(f'{name}: port {taken} on 127.0.0.1 is in use')
    assert f'(pid {os.getpid()})' in message and message.count('127.0.0.1') == 1
    offset = int(re.search(remedy + '$', message)[1])
    # The advised offset works.
    moved = [getattr(values, each) + offset for each in NAMES]
    assert all(can_bind('127.0.0.1', port) for port in moved)


@pytest.mark.parametrize(
    ('missing', 'message'),
    [
        ('rclpy', r"ROS 2 is not usable here \(No module named 'rclpy'\).*need no ROS"),
        ('urlab_msgs', 'urlab_msgs'),
        ('mujoco', r'MuJoCo is not installed'),
        ('websockets', r'pip install "urlab_ros_bridge\[chiral\]"'),
    ],
)
def test_a_missing_package_is_reported_before_anything_starts(missing, message, monkeypatch):
    for name in {name for process in PROCESSES for name in process.needs}:
        monkeypatch.setitem(sys.modules, name, sys)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(CliError, match=message):
        check_packages(PROCESSES)
