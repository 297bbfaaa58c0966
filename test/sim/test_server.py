# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The server as its clients meet it: over sockets, several at once, in real time."""

import os
import struct
import threading
import time

import pytest
from waiting import wait_until
import zmq

from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.server import Server
from urlab_ros_bridge.transport.server_sockets import SocketInUse


def test_a_port_in_use_is_named_with_the_option_to_change(server):
    running = server()
    port = int(running.endpoints['rpc'].rsplit(':', 1)[1])
    with pytest.raises(SocketInUse, match=f'^[^(]*:{port}: [^(]*--rpc-port'):
        Server(ServerConfig(rpc_port=port, state_port=0)).start()


def resources():
    return len(os.listdir('/proc/self/fd')), threading.active_count()


def test_starting_and_stopping_leaks_nothing(mjcf):
    path = mjcf('<mujoco><worldbody><body><joint/><geom size="1"/></body></worldbody></mujoco>')
    for round_number in range(30):
        made = Server(ServerConfig(model=path, rpc_port=0, state_port=0))
        made.start()
        made.stop()
        made.stop()
        if round_number == 0:
            first = resources()
    # Resources of earlier tests may be released in between.
    assert all(now <= then for now, then in zip(resources(), first, strict=True))


def test_a_failed_start_leaks_nothing(server, mjcf):
    running = server(world='quadruped')
    port = int(running.endpoints['state'].rsplit(':', 1)[1])
    broken = mjcf('<mujoco>')
    first = None
    for _ in range(5):
        with pytest.raises(SocketInUse, match='--state-port'):
            Server(ServerConfig(rpc_port=0, state_port=port)).start()
        with pytest.raises(WorldError):
            Server(ServerConfig(model=broken, rpc_port=0, state_port=0)).start()
        first = first or resources()
    assert resources() == first


def drain(socket, seconds):
    """Return (topic, payload) of everything that arrives within some seconds."""
    found = []
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        if socket.poll(left * 1000):
            found.append(tuple(socket.recv_multipart()))
    return found


@pytest.fixture
def subscribe():
    sockets = []

    def start(server, *topics):
        socket = zmq.Context.instance().socket(zmq.SUB)
        socket.setsockopt(zmq.LINGER, 0)
        for topic in topics:
            socket.setsockopt(zmq.SUBSCRIBE, topic)
        socket.connect(server.endpoints['state'])
        sockets.append(socket)
        return socket

    yield start
    for socket in sockets:
        socket.close()


def times(messages):
    return [struct.unpack('<qQq', payload) for topic, payload in messages if topic == b'sim_time']


def ticks_at(socket, pace):
    """Return the ticks of short samples; in one of them, simulated time runs at this pace."""
    ticks, paces = [], []
    for _ in range(20):  # a busy machine may disturb some
        sample = times(drain(socket, 0.6))
        simulated, wall = (sample[-1][i] - sample[0][i] for i in (0, 2))
        ticks, paces = ticks + sample, [*paces, simulated / wall if wall else 0.0]
        if paces[-1] == pytest.approx(pace, abs=0.02):
            return ticks
    raise AssertionError(f'not once {pace}: {paces}')


def test_live_mode_keeps_real_time(server, subscribe):
    running = server()
    ticks = ticks_at(subscribe(running, b'sim_time'), 1.0)
    # Every tick is there, one step after the other.
    assert [tick[1] for tick in ticks] == list(range(ticks[0][1], ticks[0][1] + len(ticks)))
    assert all(tick[0] == tick[1] * 2_000_000 for tick in ticks)


@pytest.mark.parametrize(('stall', 'caught_up'), [(0.4, True), (1.3, False)])
def test_a_stall_is_caught_up_or_written_off_and_time_never_runs_ahead(
    server, subscribe, stall, caught_up
):
    running = server()
    socket = subscribe(running, b'sim_time')
    schedule = [tick[0] - tick[2] for tick in times(drain(socket, 0.5))]
    with running.simulation.engine.lock:
        time.sleep(stall)
    # The line before the stall is the schedule; nothing may run ahead of it.
    before, lead = max(schedule), []
    deadline = time.monotonic() + 20
    while True:
        lead += [tick[0] - tick[2] for tick in times(drain(socket, 0.3))]
        lag = before - max(lead[-100:])
        if lag < 20e6 or not caught_up:
            break
        assert time.monotonic() < deadline
    assert max(lead) - before < 20e6
    assert caught_up or lag > 1e9


def test_paused_the_state_is_repeated_with_the_same_stamp(server, connect, subscribe):
    running = server()
    caller = connect(running, shared=True)
    socket = subscribe(running, b'')
    drain(socket, 0.3)
    caller.ask('set_paused', paused=True)
    drain(socket, 0.3)
    begun = time.monotonic()
    messages = []
    wait_until(lambda: messages.extend(drain(socket, 0.05)) or len(times(messages)) >= 5)
    ticks = times(messages)
    assert len({tick[:2] for tick in ticks}) == 1
    assert len(ticks) <= 5 + 20 * (time.monotonic() - begun)  # ten a second, not every tick
    assert any(topic == b'rover/base_state/base' for topic, _ in messages)
