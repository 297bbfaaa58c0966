# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import contextlib
import os
import re
import socket

from ports import free_ports
import pytest

from urlab_ros_bridge import interpreters
from urlab_ros_bridge.cli.arguments.argument import read_arguments
from urlab_ros_bridge.cli.arguments.suite import SuiteArguments
from urlab_ros_bridge.cli.errors import CliError
from urlab_ros_bridge.cli.errors import PortInUse
from urlab_ros_bridge.cli.errors import PythonUnusable
from urlab_ros_bridge.cli.processes.ports import can_bind
from urlab_ros_bridge.cli.processes.preflight import check_packages
from urlab_ros_bridge.cli.processes.preflight import check_ports
from urlab_ros_bridge.cli.processes.table import PROCESSES


@pytest.mark.parametrize('address', ['127.0.0.1', '*'])
def test_a_taken_port_is_named_with_its_holder_and_a_working_offset(address):
    with contextlib.ExitStack() as held, socket.create_server(('127.0.0.1', 0)) as holder:
        taken = holder.getsockname()[1]
        with contextlib.suppress(OSError):  # somebody else has it
            held.enter_context(socket.create_server(('127.0.0.1', taken + 10)))
        ports = {'state_port': taken, **free_ports('rpc_port', 'camera_port')}
        values = read_arguments(SuiteArguments, {name: str(port) for name, port in ports.items()})
        with pytest.raises(PortInUse, match=rf'^--state-port: port {taken} ') as caught:
            check_ports(values, address)
    assert f'(pid {os.getpid()})' in str(caught.value)
    offset = int(re.search(r'--port-offset (\d+)$', str(caught.value))[1])
    assert offset != 10
    moved = [getattr(values, each) + offset for each in values.port_names()]
    assert all(can_bind(address, port) for port in moved)


VALUES = {'python': ''}


def test_a_missing_package_is_reported_before_anything_starts(monkeypatch):
    monkeypatch.setattr(
        interpreters, 'missing_in', lambda _, names: {'websockets'}.intersection(names)
    )
    monkeypatch.setattr(interpreters, 'missing_here', lambda names: {'websockets'} & set(names))
    with pytest.raises(CliError, match=r'\(websockets\): run "urlab setup --with chiral"'):
        check_packages(PROCESSES, VALUES)


def test_the_chosen_python_must_have_what_its_programs_need(tmp_path):
    (tmp_path / 'python').write_text('#!/bin/sh\necho mujoco\n')
    (tmp_path / 'python').chmod(0o755)
    server = [process for process in PROCESSES if process.name == 'server']
    with pytest.raises(PythonUnusable, match=r'^--python: .*/python lacks .*server .*\(mujoco\)'):
        check_packages(server, {'python': str(tmp_path / 'python')})
