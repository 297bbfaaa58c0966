# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever comes to the ports of the SimSpark gateway, a monitor gets its 25 messages."""

from pathlib import Path
import re
import sys
import threading
import time

from bundled_server import simulation
from lifelines import start_process
import pytest
from urlab_programs import start_urlab

from test.gateways.simspark.conftest import gateway_at
from test.gateways.simspark.hostile import attack
from test.gateways.simspark.peers import RawPeer
from urlab_ros_bridge.gateways.simspark.client import MonitorClient

ROOT = Path(__file__).parents[2]
ATTACK = """
import os, sys, types
os.nice(10)  # it is the gateway that is tried, not the scheduler
package = types.ModuleType('test')
package.__path__ = ['test']
sys.modules['test'] = package
from test.gateways.simspark.hostile import attack
attack([int(port) for port in sys.argv[1:]], 100_000, 1)
"""


def attacked(pace, count, seed=0):
    """
    Attack both ports; return simulated and real seconds, and messages of a good monitor.

    Beside it one that never reads, half a message that never ends, and a line of HTTP.
    """
    with simulation('soccer') as port, gateway_at(port, pace=pace, players='all') as gateway:
        ports = gateway.agent_port, gateway.monitor_port
        deaf = [RawPeer(gateway.monitor_port, receive_buffer=4096) for _ in range(3)]
        half = RawPeer(gateway.agent_port)
        half.socket.sendall(b'\x00\x00\x00\x20(half')
        attacker = threading.Thread(target=attack, args=(ports, count, seed))
        with MonitorClient(port=gateway.monitor_port, timeout=60) as monitor:
            monitor.update()
            scene = gateway._simulation.current.scene
            began, first = time.monotonic(), scene.time
            attacker.start()
            before = monitor.view.fulls + monitor.view.diffs
            while attacker.is_alive() or scene.time - first < 4:
                monitor.update()
            real, simulated = time.monotonic() - began, scene.time - first
            # It still executes commands; the acknowledgement follows all messages before it.
            monitor.command(['playMode', 'PlayOn'], ['ball', ['pos', 1, 1, 0.5]])
            count_seen = monitor.view.fulls + monitor.view.diffs - before
            assert monitor.update().play_mode == 'PlayOn'
            assert set(monitor.view.players) == {('left', 1), ('right', 1)}
        attacker.join()
        for peer in (*deaf, half):
            peer.close()
    return simulated, real, count_seen


def test_thousands_of_inputs_change_nothing_for_a_monitor(caplog):
    simulated, _, count = attacked('free', 3000)
    # Full messages on request come beside those that are due.
    assert count >= 25 * simulated * 0.98 - 2
    assert 'broke' not in caplog.text


@pytest.mark.long
def test_a_hundred_thousand_inputs_in_real_time(capsys):
    """As programs of their own; the monitor's rate is held against that before the attack."""
    side = [f'--{name}-port=0' for name in ('rpc', 'state', 'camera', 'control', 'info')]
    server, line = start_urlab('server', '--world=soccer', '--cameras=off', *side)
    rpc = re.search(r'rpc=tcp://[^:]+:(\d+)', line)[1]
    words = [f'--rpc-port={rpc}', '--port=0', '--monitor-port=0', '--log-level=error']
    gateway, line = start_urlab('simspark', *words)
    try:
        ports = [int(port) for port in re.findall(r'=(\d+)', line)]
        with MonitorClient(port=ports[1], timeout=60) as monitor:
            quiet = rate(monitor, lambda: False, 10.0)
            attacker = start_process([sys.executable, '-c', ATTACK, *map(str, ports)], cwd=ROOT)
            hostile = rate(monitor, lambda: attacker.poll() is None, 10.0)
            assert attacker.wait(60) == 0
        with MonitorClient(port=ports[1], timeout=60) as monitor:
            monitor.command(['playMode', 'PlayOn'])
        with capsys.disabled():
            print(f'{quiet:.1f} messages/s, under attack {hostile:.1f}')
        assert hostile > 0.8 * quiet
    finally:
        for process in (gateway, server):
            process.terminate()
            assert process.wait(20) == 0
    complaints = gateway.stderr.read()
    assert 'broke' not in complaints and 'Traceback' not in complaints


def rate(monitor, goes_on, least):
    """Return messages a second for so long, and on."""
    began, count = time.monotonic(), 0
    while goes_on() or time.monotonic() - began < least:
        count += monitor.receive() is not None
    return count / (time.monotonic() - began)
