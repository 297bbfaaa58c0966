# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever comes to the ports of the SimSpark gateway, a monitor gets its 25 messages."""

import threading
import time

import pytest

from test.gateways.simspark.conftest import gateway_at
from test.gateways.simspark.conftest import simulation
from test.gateways.simspark.hostile import attack
from test.gateways.simspark.peers import RawPeer
from urlab_ros_bridge.gateways.simspark.client import MonitorClient


def attacked(pace, count, seed=0):
    """
    Attack both ports; return simulated and real seconds, and messages of a good monitor.

    Beside it one that never reads, half a message that never ends, and a line of HTTP.
    """
    with simulation('soccer') as port, gateway_at(port, pace=pace) as gateway:
        ports = gateway.agent_port, gateway.monitor_port
        deaf = [RawPeer(gateway.monitor_port, receive_buffer=4096) for _ in range(3)]
        half = RawPeer(gateway.agent_port)
        half.socket.sendall(b'\x00\x00\x00\x20(half')
        attacker = threading.Thread(target=attack, args=(ports, count, seed))
        times = []
        with MonitorClient(port=gateway.monitor_port, timeout=60) as monitor:
            monitor.update()
            scene = gateway._simulation.current.scene
            began, first = time.monotonic(), scene.time
            attacker.start()
            while attacker.is_alive() or len(times) < 100:
                monitor.update()
                times.append(monitor.view.time)
            real, simulated = time.monotonic() - began, scene.time - first
            # It still does what it is told.
            monitor.command(['playMode', 'PlayOn'], ['ball', ['pos', 1, 1, 0.5]])
            assert monitor.update().play_mode == 'PlayOn'
            assert set(monitor.view.players) == {('left', 1), ('right', 1)}
        attacker.join()
        for peer in (*deaf, half):
            peer.close()
    return simulated, real, len(times)


def test_thousands_of_inputs_change_nothing_for_a_monitor(caplog):
    simulated, _, count = attacked('free', 3000)
    # Full messages on request come beside those that are due.
    assert count >= 25 * simulated * 0.98 - 2
    assert 'broke' not in caplog.text


@pytest.mark.long
def test_a_hundred_thousand_inputs_in_real_time(caplog, capsys):
    simulated, real, count = attacked('live', 100_000)
    with capsys.disabled():
        print(f'{count / real:.1f} messages/s, {simulated / real:.3f} of real time, {real:.0f} s')
    assert count >= 25 * simulated * 0.9
    assert 'broke' not in caplog.text
