# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import os
import re
import socket
import sys

import pytest

from urlab_ros_bridge.cli.arguments.argument import read_arguments
from urlab_ros_bridge.cli.arguments.argument import Spelling
from urlab_ros_bridge.cli.arguments.suite import SuiteArguments
from urlab_ros_bridge.cli.errors import CliError
from urlab_ros_bridge.cli.errors import PortInUse
from urlab_ros_bridge.cli.processes.ports import can_bind
from urlab_ros_bridge.cli.processes.preflight import check_packages
from urlab_ros_bridge.cli.processes.preflight import check_ports
from urlab_ros_bridge.cli.processes.table import PROCESSES

NAMES = (
    'rpc_port',
    'state_port',
    'camera_port',
    'control_port',
    'info_port',
    'chiral_port',
    'simspark_port',
    'monitor_port',
    'webxr_port',
)


@pytest.fixture
def taken():
    with socket.socket() as holder:
        holder.bind(('127.0.0.1', 0))
        holder.listen(1)
        yield holder.getsockname()[1]


def arguments(**values):
    return read_arguments(SuiteArguments, {name: str(value) for name, value in values.items()})


@pytest.mark.parametrize(
    ('spelling', 'name', 'remedy'),
    [
        (Spelling.OPTION, '--state-port', r'--port-offset (\d+)'),
        (Spelling.LAUNCH, 'state_port', r'port_offset:=(\d+)'),
    ],
)
def test_a_taken_port_is_named_once_with_its_holder_and_what_moves_them_all(
    taken, spelling, name, remedy
):
    values = arguments(state_port=taken, rpc_port=free(), camera_port=free())
    with pytest.raises(PortInUse) as caught:
        check_ports(values, '127.0.0.1', spelling)
    said = str(caught.value)
    assert said.startswith(f'{name}: port {taken} on 127.0.0.1 is in use')
    assert f'(pid {os.getpid()})' in said and said.count('127.0.0.1') == 1
    offset = int(re.search(remedy + '$', said)[1])
    # What is advised works.
    moved = [getattr(values, each) + offset for each in NAMES]
    assert all(can_bind('127.0.0.1', port) for port in moved)


def free():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


@pytest.mark.parametrize(
    ('missing', 'said'),
    [
        ('rclpy', r"ROS 2 is not usable here \(No module named 'rclpy'\).*need no ROS"),
        ('urlab_msgs', 'urlab_msgs'),
        ('mujoco', r'MuJoCo is not installed'),
        ('websockets', r'pip install "urlab_ros_bridge\[chiral\]"'),
    ],
)
def test_a_missing_package_is_said_before_anything_starts(missing, said, monkeypatch):
    for name in {name for process in PROCESSES for name in process.needs}:
        monkeypatch.setitem(sys.modules, name, sys)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(CliError, match=said):
        check_packages(PROCESSES)
