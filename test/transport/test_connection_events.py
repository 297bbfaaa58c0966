# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Events of connections never hold up the thread that serves all sockets of the process."""

import socket
import threading

import pytest
from waiting import wait_until
import zmq

from urlab_ros_bridge.transport.connection_events import ConnectionEvents

MANY = 2500  # events; two thousand fill the queues that libzmq makes by itself


@pytest.fixture
def closing():
    """Return a port that ends each connection as soon as it begins: its address, and how many."""
    listener = socket.create_server(('127.0.0.1', 0))
    ended = []

    def accept():
        while True:
            try:
                listener.accept()[0].close()
                ended.append(1)
            except OSError:
                return

    threading.Thread(target=accept, daemon=True).start()
    yield f'tcp://127.0.0.1:{listener.getsockname()[1]}', ended
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def served():
    """Return whether the thread of libzmq still does what it has to."""
    context = zmq.Context.instance()
    with context.socket(zmq.REP) as one, context.socket(zmq.REQ) as other:
        other.connect(f'tcp://127.0.0.1:{one.bind_to_random_port("tcp://127.0.0.1")}')
        other.linger = 0
        other.send(b'hello')
        return one.poll(20_000) == zmq.POLLIN


def test_unread_connection_events_do_not_block_libzmq(closing):
    link = zmq.Context.instance().socket(zmq.DEALER)
    link.reconnect_ivl = 1
    events = ConnectionEvents(link, zmq.EVENT_ALL)
    address, ended = closing
    link.connect(address)
    # Each is three events at least.
    wait_until(lambda: len(ended) >= MANY // 3)
    assert served()
    events.close()
    assert served()
