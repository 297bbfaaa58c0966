# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Events of connections tell of the end of a server, and never hold up libzmq's thread."""

from ports import free_port
from raw_zmtp import raw_server
from waiting import bind_when_free
from waiting import wait_until
import zmq

from urlab_ros_bridge.transport.connection_events import ConnectionEvents
from urlab_ros_bridge.transport.connection_events import ServerWatch
from urlab_ros_bridge.transport.server_sockets import ServerSockets

MANY = 2500  # events; two thousand fill the queues that libzmq makes by itself


def served():
    """Return whether the thread of libzmq still does what it has to."""
    context = zmq.Context.instance()
    with context.socket(zmq.REP) as one, context.socket(zmq.REQ) as other:
        other.connect(f'tcp://127.0.0.1:{one.bind_to_random_port("tcp://127.0.0.1")}')
        other.linger = 0
        other.send(b'hello')
        return one.poll(20_000) == zmq.POLLIN


def test_unread_connection_events_do_not_block_libzmq():
    ended = []
    with raw_server(ended.append) as address:  # each connection ends as soon as it begins
        link = zmq.Context.instance().socket(zmq.DEALER)
        link.reconnect_ivl = 1
        events = ConnectionEvents(link, zmq.EVENT_ALL)
        link.connect(address)
        # Each is three events at least.
        wait_until(lambda: len(ended) >= MANY // 3)
        assert served()
        events.close()
        assert served()


def test_the_end_of_a_server_is_reported_once_also_before_the_watch(monkeypatch):
    server, lost = ServerSockets(None), []
    endpoint = bind_when_free(server, zmq.ROUTER, 0).last_endpoint.decode()
    watch = ServerWatch(endpoint, lambda: lost.append('watched'))
    watch._thread.join(0.3)
    assert not lost  # nothing happens as long as it is there
    server.close()
    wait_until(lambda: lost)
    watch.stop()
    watch.stop()
    monkeypatch.setattr('urlab_ros_bridge.transport.connection_events._CONNECT_SECONDS', 0.3)
    watch = ServerWatch(f'tcp://127.0.0.1:{free_port()}', lambda: lost.append('gone'))
    wait_until(lambda: len(lost) == 2)
    watch.stop()
    assert lost == ['watched', 'gone']
