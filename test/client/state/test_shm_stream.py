# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The state out of shared memory, against the bundled server."""

import threading

from bundled_server import client_of
from bundled_server import port_of
from bundled_server import start_server
import pytest

from urlab_ros_bridge.client import open_state
from urlab_ros_bridge.client import ShmStateStream
from urlab_ros_bridge.client import StateStream
from urlab_ros_bridge.client.errors import StreamClosed
from urlab_ros_bridge.transport.shm import RegionWriter
from urlab_ros_bridge.wire.errors import RegionUnavailable


def test_ticks_of_shared_memory_equal_state_full(keep):
    server = keep(start_server(cameras='off', world='quadruped', paused=True))
    client = keep(client_of(server, shared=True))
    with (
        ShmStateStream(client.handshake.shm_session_dir) as shm,
        StateStream(state_port=client.state_port, topics=('state/full',)) as zmq,
    ):
        zmq.receive(20.0)
        for _ in range(3):
            stamp = client.step(5, while_paused=True).sim_time_ns
            one, other = (until(stream, stamp) for stream in (shm, zmq))
            state, same = one.state().raw, dict(other.state().raw)
            if one.wall_ns != other.state().wall_time_ns:  # another publication of the same step
                same['wall_time'] = state['wall_time']
            assert state == same
            assert one.step == other.step


def until(stream, stamp):
    """Return the tick of a time."""
    while (tick := stream.receive(20.0)).stamp_ns != stamp:
        pass
    return tick


def test_open_state_falls_back_to_zmq(keep):
    server = keep(start_server(cameras='off', shm=False))
    directory = keep(client_of(server)).handshake.shm_session_dir
    stream = keep(open_state(directory, state_port=port_of(server, 'state')))
    assert isinstance(stream, StateStream) and stream.receive(20.0) is not None


def test_unreadable_states_are_counted(tmp_path):
    writer = RegionWriter.create(tmp_path / 'state.shm', 256)
    with ShmStateStream(tmp_path) as stream:
        for payload in (b'\xc1', b'\x93\1\2\3', bytes(200)):
            writer.write(payload)
            assert stream.receive(0.0) is None
        assert (stream.stats.decode_errors, stream.stats.ticks) == (3, 0)
        threading.Timer(0.1, stream.close).start()
        with pytest.raises(StreamClosed):
            stream.receive(20.0)
    with pytest.raises(RegionUnavailable):
        ShmStateStream(tmp_path / 'elsewhere')
