# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The launch file under the real launch, where it is installed: what its end leaves behind."""

import importlib.util
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

from urlab_ros_bridge.files.folders import shipped_file

_spec = importlib.util.spec_from_file_location('recorder', shipped_file('test/launch/recorder.py'))
recorder = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(recorder)

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


def launch_ports():
    ports = free_ports('rpc', 'state', 'camera', 'control', 'info')
    return [f'{name}_port:={port}' for name, port in ports.items()]


def start(*words, source=LAUNCH, domain=None):
    environ = {
        'ROS_DOMAIN_ID': str(domain or free_domain()),
        'FASTDDS_BUILTIN_TRANSPORTS': 'UDPv4',
    }
    return start_process(
        [sys.executable, '-c', source, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **environ},
        text=True,
        start_new_session=True,
    )


@pytest.fixture
def launched():
    started = []

    def run(*words, **options):
        started.append(start(*words, **options))
        return started[-1]

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()


def children(process):
    """Wait until server and bridge run, and return their process ids."""
    output = ''
    # Launch itself may hang on a Ctrl-C in the very moment in which it reports a start.
    while '[bridge-2] ' not in output:
        line = process.stdout.readline()
        assert line, output
        output += line
    pairs = re.findall(r'\[(\w+)-\d+\]: process started with pid \[(\d+)\]', output)
    return {name: int(pid) for name, pid in pairs}


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_nothing_is_left_when_launch_ends(launched, number):
    process = launched(*launch_ports())
    found = children(process)
    assert set(found) == {'server', 'bridge'}
    process.send_signal(number)
    assert all(ends(pid) for pid in found.values())
    process.wait(20)
    assert '\x1b' not in process.stdout.read()


SCOPED = f"""
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import GroupAction, IncludeLaunchDescription
from launch.launch_description_sources import AnyLaunchDescriptionSource
from launch_ros.actions import PushRosNamespace, SetParameter, SetRemap

source = AnyLaunchDescriptionSource({str(shipped_file('launch/sim.launch.py'))!r})
pairs = [word.split(':=', 1) for word in sys.argv[1:]]
service = LaunchService(noninteractive=True)
service.include_launch_description(LaunchDescription([GroupAction([
    PushRosNamespace('lab'), SetRemap('odom', 'wheel_odom'), SetParameter('odom_rate', 7.0),
    IncludeLaunchDescription(source, launch_arguments=pairs),
])]))
sys.exit(service.run())
"""


def test_the_bridge_is_in_the_scope_that_includes_the_file(launched):
    """Namespace, remapping and parameter of a group reach the node."""
    from bridge_harness import Listener
    from bridge_harness import wait_until
    from nav_msgs.msg import Odometry
    from rcl_interfaces.srv import GetParameters

    domain = free_domain()
    launched(*launch_ports(), source=SCOPED, domain=domain)
    listener = Listener(domain)
    try:
        assert wait_until(
            lambda: (
                listener.received.get('/lab/wheel_odom')
                or listener.listen(Odometry, '/lab/wheel_odom')
            )
        )
        (value,) = listener.call(
            GetParameters, '/lab/urlab_bridge/get_parameters', names=['odom_rate']
        ).values
        assert value.double_value == 7.0
    finally:
        listener.close()


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_while_driving_is_no_error(launched, number):
    """A bridge that is asked to end does not wait for a server that ends at the same time."""
    from bridge_harness import Listener
    from bridge_harness import wait_until
    from geometry_msgs.msg import Twist

    domain = free_domain()
    process = launched(*launch_ports(), domain=domain)
    found = children(process)
    listener = Listener(domain)
    try:
        publisher = listener.publisher(Twist, 'cmd_vel')
        wait_until(lambda: publisher.publish(Twist()) or listener.node.count_publishers('/odom'))
        for _ in range(20):
            publisher.publish(Twist())
        process.send_signal(number)
        process.wait(30)
    finally:
        listener.close()
    output = process.stdout.read()
    assert all(ends(pid) for pid in found.values())
    assert (
        'no reply' not in output and 'failed to terminate' not in output and 'ERROR' not in output
    )


def test_launch_fails_when_the_server_dies(launched):
    process = launched(*launch_ports())
    found = children(process)
    os.kill(found['server'], signal.SIGKILL)
    assert process.wait(30) == 1
    assert all(ends(pid) for pid in found.values())
    assert 'server was killed by signal 9' in process.stdout.read()


@pytest.mark.parametrize('word', ['wrld:=fleet', 'rpc_port:=abc', 'params_file:=/nope.yaml'])
def test_an_invalid_argument_is_one_line_and_starts_nothing(launched, word):
    process = launched(word)
    output = process.communicate(timeout=30)[0]
    assert process.returncode == 1 and 'process started' not in output
    (line,) = (line for line in output.splitlines() if 'ERROR' in line)
    assert word.partition(':=')[0] in line


# Stands in for a program of controller_manager: keeps its arguments and parameter files.
RECORDER = """#!/bin/sh
printf '%s\\n' "$@" > "$0.arguments"
while [ $# -gt 1 ]; do
  [ "$1" = --params-file ] && cat "$2" >> "$0.parameters"
  shift
done
[ "$(basename "$0")" = spawner ] || exec sleep 600
"""


def test_controllers_start_beside_the_bridge_that_serves_them(launched, tmp_path, monkeypatch):
    from bridge_harness import LATCHED
    from bridge_harness import Listener
    from bridge_harness import wait_until
    from sensor_msgs.msg import JointState
    from std_msgs.msg import String

    programs = tmp_path / 'lib' / 'controller_manager'
    programs.mkdir(parents=True)
    for name in ('ros2_control_node', 'spawner'):
        (programs / name).write_text(RECORDER)
        (programs / name).chmod(0o755)
    for package in ('controller_manager', 'joint_state_topic_hardware_interface'):
        (tmp_path / 'share' / package).mkdir(parents=True)
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'{tmp_path}:{os.environ["AMENT_PREFIX_PATH"]}')

    def written():
        return {path.name for path in programs.iterdir() if path.stat().st_size}

    file = shipped_file('config/ros2_control/bimanual.yaml')
    words = ('world:=bimanual', f'controllers:={file}', 'namespace:=lab')
    domain = free_domain()
    process = launched(*launch_ports(), *words, domain=domain)
    listener = Listener(domain)
    try:
        described = listener.wait_for(String, '/lab/robot_description', qos=LATCHED)
        assert 'joint_state_topic_hardware_interface/JointStateTopicSystem' in described.data
        states = listener.wait_for(JointState, '/lab/ros2_control/joint_states')
        assert 'left_elbow' in states.name
        wait_until(lambda: {'spawner.arguments', 'ros2_control_node.parameters'} <= written())
    finally:
        listener.close()
    manager, spawner = (
        (programs / f'{name}.arguments').read_text().split()
        for name in ('ros2_control_node', 'spawner')
    )
    assert '__ns:=/lab' in manager and '__ns:=/lab' in spawner
    given = (programs / 'ros2_control_node.parameters').read_text()
    assert file.read_text() in given and 'use_sim_time: true' in given
    names = ['joint_state_broadcaster', 'left_arm_controller', 'right_arm_controller']
    assert [word for word in spawner if word in names] == names
    process.send_signal(signal.SIGINT)
    output = process.communicate(timeout=30)[0]
    assert 'process has finished cleanly' in output, output
    assert process.returncode == 0, output
