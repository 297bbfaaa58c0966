# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The launch file under the real launch, where it is installed: what its end leaves behind."""

import os
import re
import signal
import subprocess
import sys

from domains import free_domain
from lifelines import ends
from lifelines import start_process
from ports import free_ports
import pytest

from test.launch import recorder
from urlab_ros_bridge.files.folders import shipped_file

pytestmark = [
    pytest.mark.ros,
    pytest.mark.skipif(not recorder.launch_is_installed(), reason='needs launch'),
]
LAUNCH = f"""
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import AnyLaunchDescriptionSource

words = sys.argv[1:]
sys.argv = ['ros2', 'launch', 'urlab_ros_bridge', 'sim.launch.py', *words]
service = LaunchService(argv=words, noninteractive=True)
source = AnyLaunchDescriptionSource({str(shipped_file('launch/sim.launch.py'))!r})
pairs = [word.split(':=', 1) for word in words]
include = IncludeLaunchDescription(source, launch_arguments=pairs)
service.include_launch_description(LaunchDescription([include]))
sys.exit(service.run())
"""


@pytest.fixture
def launched():
    """Start the launch file, and return it and its processes by name once the bridge talks."""
    ports = free_ports('rpc', 'state', 'camera', 'control', 'info')
    environ = {'ROS_DOMAIN_ID': str(free_domain()), 'FASTDDS_BUILTIN_TRANSPORTS': 'UDPv4'}
    process = start_process(
        [sys.executable, '-c', LAUNCH, *(f'{name}_port:={port}' for name, port in ports.items())],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **environ},
        text=True,
        start_new_session=True,
    )
    output = ''
    # Launch itself may hang on a Ctrl-C in the very moment in which it reports a start.
    while '[bridge-2] ' not in output:
        line = process.stdout.readline()
        assert line, output
        output += line
    pairs = re.findall(r'\[(\w+)-\d+\]: process started with pid \[(\d+)\]', output)
    yield process, {name: int(pid) for name, pid in pairs}
    if process.poll() is None:
        process.kill()
    process.wait()
    process.stdout.close()


@pytest.mark.parametrize(
    ('victim', 'number'),
    [
        ('launch', signal.SIGTERM),
        ('launch', signal.SIGKILL),
        ('launch', signal.SIGINT),
        ('server', signal.SIGKILL),
    ],
)
def test_nothing_is_left_when_launch_ends_or_its_server_dies(launched, victim, number):
    process, found = launched
    assert set(found) == {'server', 'bridge'}
    os.kill({**found, 'launch': process.pid}[victim], number)
    assert all(ends(pid) for pid in found.values())
    code = process.wait(30)
    assert victim == 'launch' or code == 1
    assert '\x1b' not in process.stdout.read()
