# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Accepting and the handshake, without anything that is sent afterwards."""

from contextlib import closing
from contextlib import ExitStack
import errno
import socket
import time

import pytest

from urlab_ros_bridge.sim.sockets import zmtp_server
from urlab_ros_bridge.sim.sockets.zmtp_server import ZmtpConnection
from urlab_ros_bridge.sim.sockets.zmtp_server import ZmtpServer
from urlab_ros_bridge.wire import zmtp
from urlab_ros_bridge.wire.errors import WireError

LIMIT = 1000


class Served:
    """A server that takes frames and keeps those that are no commands."""

    def __init__(self):
        self.listener = socket.create_server(('127.0.0.1', 0), backlog=200)
        self.server = ZmtpServer(
            self.listener, 'ROUTER', ('DEALER',), lambda each: ZmtpConnection(each, LIMIT),
            lambda connection, data: connection.socket.sendall(data),
        )  # fmt: skip
        self.bodies = []

    def close(self):
        for each in list(self.server.connections.values()):
            self.server.drop(each)
        self.listener.close()

    def dial(self):
        return socket.create_connection(self.listener.getsockname())

    def turn(self):
        """Do what one turn of an owner's loop does."""
        for handle, _ in self.server.poll.poll(0.01):
            if handle == self.listener.fileno():
                self.server.accept()
            else:
                self._read(self.server.connections[handle])
        self.server.longest_wait()

    def _read(self, connection):
        data = connection.socket.recv(1 << 16)
        connection.reader.feed(data)
        try:
            while (frame := self.server.next_frame(connection)) is not None:
                if not frame[0] & zmtp.COMMAND:
                    self.bodies.append(frame[1])
        except WireError:
            data = b''
        if not data:
            assert self.server.drop(connection)
            assert not self.server.drop(connection)

    def until(self, condition):
        deadline = time.monotonic() + 60.0
        while not condition():
            assert time.monotonic() < deadline
            self.turn()


@pytest.fixture
def served():
    with closing(Served()) as served:
        yield served


def test_more_connections_than_one_turn_accepts_are_all_greeted(served):
    count = 3 * zmtp_server._ACCEPT_TURN + 1
    with ExitStack() as stack:
        peers = [stack.enter_context(served.dial()) for _ in range(count)]
        served.turn()
        assert len(served.server.connections) == zmtp_server._ACCEPT_TURN
        served.until(lambda: len(served.server.connections) == count)
        assert all(peer.recv(64) == zmtp.GREETING for peer in peers)
    served.until(lambda: not served.server.connections)
    assert served.server.longest_wait() is None


def test_connections_without_a_descriptor_are_accepted_when_there_is_one(served, monkeypatch):
    class Exhausted:
        def accept(self):
            raise OSError(errno.EMFILE, 'too many open files')

        def fileno(self):
            return served.listener.fileno()

    with served.dial() as peer:
        monkeypatch.setattr(served.server, 'listener', Exhausted())
        served.turn()
        assert served.server.longest_wait() == zmtp_server._ACCEPT_AGAIN
        assert not served.server.poll.poll(0)  # it does not wake all the time
        monkeypatch.undo()
        peer.sendall(zmtp.GREETING + zmtp.ready('DEALER') + zmtp.frame(b'body'))
        served.until(lambda: served.bodies == [b'body'])


def test_who_waits_behind_one_that_has_left_is_accepted(served, monkeypatch):
    class Leaving:
        def __init__(self):
            self.left = [errno.ECONNABORTED, errno.EPROTO]

        def accept(self):
            if self.left:
                raise OSError(self.left.pop(), 'it has left')
            return served.listener.accept()

        def fileno(self):
            return served.listener.fileno()

    monkeypatch.setattr(served.server, 'listener', Leaving())
    with served.dial() as peer:
        served.turn()
        assert len(served.server.connections) == 1
        assert peer.recv(64) == zmtp.GREETING


def test_only_unfinished_handshakes_are_slow(served, monkeypatch):
    with served.dial() as silent, served.dial() as whole:
        whole.sendall(zmtp.GREETING + zmtp.ready('DEALER') + zmtp.frame(b'body'))
        served.until(lambda: served.bodies == [b'body'])
        assert not served.server.slow_handshakes()
        assert served.server.longest_wait() is not None
        monkeypatch.setattr(zmtp_server, 'HANDSHAKE_SECONDS', 0.0)
        (slow,) = served.server.slow_handshakes()
        assert slow.socket.getpeername() == silent.getsockname()
        assert served.server.drop(slow)
        assert served.server.longest_wait() is None


@pytest.mark.parametrize(
    'said', [zmtp.ready('SUB'), zmtp.command(b'PING', b'\0\0'), zmtp.frame(b'body')]
)
def test_before_a_fitting_ready_nothing_else_is_taken(served, said):
    with served.dial() as peer:
        peer.sendall(zmtp.GREETING)
        served.until(lambda: served.server.connections)
        peer.sendall(said + zmtp.ready('DEALER'))
        served.until(lambda: not served.server.connections)
    assert not served.bodies
