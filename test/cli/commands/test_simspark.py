# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab simspark` as a program, on a real server."""

import re
import signal

import pytest
from urlab_programs import ANY_PORTS
from urlab_programs import start_urlab

from urlab_ros_bridge.cli.commands import simspark
from urlab_ros_bridge.gateways.simspark.client import MonitorClient
from urlab_ros_bridge.gateways.simspark.client import SceneView
from urlab_ros_bridge.gateways.simspark.client.clients import AgentClient


@pytest.fixture
def server():
    """Yield the port of the requests of a rover."""
    process, line = start_urlab('server', '--world=rover', *ANY_PORTS)
    yield re.search(r'rpc=tcp://[^:]+:(\d+)', line)[1]
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 0, process.stderr.read()


def test_a_world_is_watched_commanded_and_logged_until_a_signal(server, tmp_path):
    log = tmp_path / 'game.log'
    words = [f'--rpc-port={server}', '--port=0', '--monitor-port=0', f'--log={log}']
    gateway, line = start_urlab('simspark', *words, '--allow-killsim')
    output = re.fullmatch(
        rf'{simspark.READY_LINE}: agents=(\d+) monitors=(\d+) robots=rover\n', line
    )
    with MonitorClient(port=int(output[2])) as monitor:
        monitor.update()
        monitor.command(['playMode', 'PlayOn'])
        assert list(monitor.view.players) == [('left', 1)]
        monitor.send(['killsim'])
    assert gateway.wait(20) == 0, gateway.stderr.read()
    view = SceneView()
    assert all(view.take(line) for line in log.read_bytes().splitlines())
    assert view.fulls == 1

    gateway, line = start_urlab('simspark', *words[:-1], '--pace=free', '--sync=false')
    with AgentClient(port=int(re.search(r'agents=(\d+)', line)[1]), scene='rover') as agent:
        agent.send(['syn'])
        assert all(agent.receive() for _ in range(5))  # it is not waited for
    gateway.send_signal(signal.SIGTERM)
    assert line.startswith(simspark.READY_LINE) and gateway.wait(20) == 0, gateway.stderr.read()
