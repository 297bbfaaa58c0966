# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The server as its clients meet it: over sockets, several at once, in real time."""

import os
from pathlib import Path
import struct
import threading
import time

from bundled_server import port_of
from bundled_server import start_server
import pytest
from spawn_models import BOX
from waiting import wait_until
import zmq

from urlab_ros_bridge.conformance.channels.shm_raw import ShmChannel
from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.transport.server_sockets import SocketInUse


def resources():
    return len(os.listdir('/proc/self/fd')), threading.active_count()


def test_starting_stopping_and_failing_to_start_leaks_nothing(server, mjcf):
    path = mjcf('<mujoco><worldbody><body><joint/><geom size="1"/></body></worldbody></mujoco>')
    broken, port = mjcf('<mujoco>'), port_of(server(world='quadruped'), 'state')
    for round_number in range(10):
        made = start_server(model=path)
        directory = Path(made.host.shm_dir)
        ShmChannel(directory).close()
        made.stop()
        made.stop()
        assert not directory.exists()
        with pytest.raises(SocketInUse, match=f'{port}.*--state-port'):
            start_server(model=path, state_port=port)
        with pytest.raises(WorldError):
            start_server(model=broken)
        if round_number == 0:
            first = resources()
    # Resources of earlier tests may be released in between.
    assert all(now <= then for now, then in zip(resources(), first, strict=True))


def drain(socket, seconds):
    """Return (topic, payload) of everything that arrives within some seconds."""
    found = []
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        if socket.poll(left * 1000):
            found.append(tuple(socket.recv_multipart()))
    return found


@pytest.fixture
def subscribe(keep):
    def start(server, topic):
        socket = keep(zmq.Context.instance().socket(zmq.SUB))
        socket.linger = 0
        socket.subscribe(topic)
        socket.connect(server.endpoints['state'])
        return socket

    return start


def times(messages):
    return [struct.unpack('<qQq', payload) for topic, payload in messages if topic == b'sim_time']


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


def test_time_continues_in_a_changed_world_even_if_the_old_loop_ended_first(server, connect):
    running = server()
    caller = connect(running)
    caller.ask('set_mode', mode='live')
    old, replace = running.simulation.live, running.host._replace_services

    def late(before, after):
        old.join(20.0)
        assert not old.is_alive()
        replace(before, after)

    running.host._replace_services = late
    caller.ask('spawn_entity', name='box', xml=BOX)
    data = running.simulation.world.data
    before = data.time
    wait_until(lambda: data.time > before)
