# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The server as its clients meet it: over sockets, several at once, in real time."""

import os
from pathlib import Path
import struct
import threading

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


def test_paused_the_state_is_repeated_with_the_same_stamp(server, connect, keep):
    running = server()
    socket = keep(zmq.Context.instance().socket(zmq.SUB))
    socket.linger, socket.rcvtimeo = 0, 60_000
    socket.subscribe(b'')
    socket.connect(running.endpoints['state'])
    connect(running, shared=True).ask('set_paused', paused=True)
    rows, ticks, shown = set(), [], set()

    def is_repeated():
        topic, payload, *_ = socket.recv_multipart()
        rows.add(topic)
        if topic == b'sim_time':
            ticks.append(struct.unpack('<qQq', payload))
            shown.clear()
            shown.update(rows)
            rows.clear()
        return len(ticks) > 5 and len({tick[:2] for tick in ticks[-5:]}) == 1

    wait_until(is_repeated)
    assert ticks[-1][2] - ticks[-5][2] > 0.2e9, 'ten a second, not every tick'
    assert b'rover/base_state/base' in shown


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
