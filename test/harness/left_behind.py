# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Tests that never end, each with processes of another kind; `test_lifelines.py` kills their run.

Not collected by its name.  Each writes a file into the folder `URLAB_TEST_LEFT_BEHIND` when all
of its processes are there.
"""

import os
from pathlib import Path
import signal
import subprocess
import sys
import threading

from bundled_server import port_of
from bundled_server import start_server
from domains import free_domain
from lifelines import start_process
from ports import free_ports
import pytest

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.conformance.local_server import local_server

PORTS = ('rpc', 'state', 'camera', 'control', 'info')
ANY_PORTS = [f'--{name}-port=0' for name in PORTS]


def never_end(name):
    (Path(os.environ['URLAB_TEST_LEFT_BEHIND']) / name).touch()
    threading.Event().wait()


def start_program(*words, until=''):
    """Start a program and wait until it has written a line that contains a text."""
    program = start_process([sys.executable, '-m', *words], stdout=subprocess.PIPE, text=True)
    assert any(until in line for line in program.stdout)
    return program


def test_a_server_and_a_stopped_one():
    server = ('urlab_ros_bridge.cli.main', 'server', *ANY_PORTS)
    for program in [start_program(*server) for _ in range(2)][1:]:
        program.send_signal(signal.SIGSTOP)
    never_end('servers')


def test_a_server_in_this_process_with_a_renderer():
    server = start_server()
    client = Client(rpc_port=port_of(server), shared=True)
    client.connect()
    while not client.step(include_cameras=True).cameras:
        pass  # the renderer is starting
    never_end('renderer')


def test_the_server_of_the_conformance_suite():
    with local_server():
        never_end('conformance')


@pytest.mark.ros
def test_everything_of_up(monkeypatch):
    pytest.importorskip('rclpy')
    monkeypatch.setenv('ROS_DOMAIN_ID', str(free_domain()))
    words = [f'--{name}-port={port}' for name, port in free_ports(*PORTS).items()]
    start_program('urlab_ros_bridge.cli.main', 'up', *words, until='status rover')
    never_end('up')
