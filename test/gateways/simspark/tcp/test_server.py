# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the ports: messages come whole and in order, and no client costs another anything."""

from contextlib import suppress
import resource
import socket
import time

import pytest

from test.gateways.simspark.peers import RawPeer
from test.gateways.simspark.peers import wait_until
from urlab_ros_bridge.gateways.simspark.tcp import server as tcp
from urlab_ros_bridge.gateways.simspark.tcp.server import Happening
from urlab_ros_bridge.gateways.simspark.tcp.server import SimSparkPortTaken
from urlab_ros_bridge.gateways.simspark.tcp.server import TcpServer
from urlab_ros_bridge.gateways.simspark.wire.framing import frame


class Listening:
    """A server whose events are collected, with a turn for each look."""

    def __init__(self):
        self.server = TcpServer('127.0.0.1', {'agent': 0, 'monitor': 0})
        self.server.bind()
        self.server.start()
        self.connections, self.gone, self.heard = [], [], []

    def look(self):
        while (event := self.server.next_event()) is not None:
            if event.happening is Happening.CONNECTED:
                self.connections.append(event.connection)
            elif event.happening is Happening.DISCONNECTED:
                self.gone.append(event.connection)
            else:
                self.heard.append((event.connection, event.expressions))
        self.server.refill()
        return self

    def wait(self, count, what):
        wait_until(lambda: len(getattr(self.look(), what)) >= count, f'{count} {what}')
        return getattr(self, what)

    def connect(self, port='monitor', **options):
        before = len(self.connections)
        peer = RawPeer(self.server.port(port), **options)
        return peer, self.wait(before + 1, 'connections')[-1]


@pytest.fixture
def listening():
    found = Listening()
    yield found
    found.server.stop()


def test_messages_come_in_order_with_the_client_and_its_port(listening):
    (a, at_a), (b, at_b) = listening.connect('agent'), listening.connect('monitor')
    assert (at_a.port, at_b.port) == ('agent', 'monitor')
    for number in range(300):  # more than a turn lets through
        a.say(f'(n {number})(syn)')
    listening.wait(300, 'heard')
    assert listening.heard == [(at_a, [['n', str(n)], ['syn']]) for n in range(300)]
    assert at_b.send(b'(x)') and b.hear() == '(x)'
    a.close()
    assert listening.wait(1, 'gone') == [at_a]
    assert not at_a.send(b'(x)')


def test_an_empty_message_is_neither_sent_nor_an_event(listening):
    a, at_a = listening.connect()
    assert not at_a.send(b'')
    a.socket.sendall(frame(b'') * 1000 + frame(b'(x)'))
    assert listening.wait(1, 'heard') == [(at_a, [['x']])]


@pytest.mark.parametrize('bad', [b'(((', b')))', b'\xff\x00', b'(' * 3000, b'"'])
def test_a_malformed_message_is_passed_over(listening, bad):
    a, at_a = listening.connect()
    a.say(bad)
    a.say('(x)')
    assert listening.wait(1, 'heard') == [(at_a, [['x']])]


def test_a_length_beyond_the_limit_ends_that_connection_alone(listening):
    (a, at_a), (b, at_b) = listening.connect(), listening.connect()
    a.socket.sendall(b'GET / HTTP/1.1\r\n\r\n')
    assert a.hear() is None
    assert listening.wait(1, 'gone') == [at_a]
    b.say('(x)')
    assert listening.wait(1, 'heard') == [(at_b, [['x']])]


def test_a_half_message_and_a_reset_harm_nobody(listening):
    (a, at_a), (b, at_b), (c, _) = (listening.connect() for _ in range(3))
    c.socket.sendall(frame(b'(never)')[:-1])
    a.socket.sendall(frame(b'(never)')[:6])
    a.reset()
    assert listening.wait(1, 'gone') == [at_a]
    assert not at_a.is_open
    b.say('(x)')
    assert listening.wait(1, 'heard') == [(at_b, [['x']])]


def test_who_never_reads_loses_whole_messages_and_costs_its_buffer(listening):
    a, at_a = listening.connect(receive_buffer=4096)
    b, at_b = listening.connect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    payload = b'(' + b'x' * 50_000 + b')'
    for _ in range(3000):
        at_a.send(payload)
        at_b.send(b'(y)')
        assert b.hear() == '(y)'
    assert at_a.dropped > 2000 and at_b.dropped == 0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kB
    # What it reads later is whole.
    passed = 3000 - at_a.dropped
    assert {a.hear() for _ in range(passed)} == {payload.decode()}
    wait_until(lambda: at_a.send(b'(z)'))
    assert a.hear() == '(z)'


def test_a_flood_waits_in_its_own_socket(listening):
    a, _ = listening.connect()
    b, at_b = listening.connect()
    a.socket.setblocking(False)
    sent = 0
    flood = frame(b'(x)') * 1000
    for _ in range(2000):  # nobody takes a turn
        try:
            sent += a.socket.send(flood)
        except BlockingIOError:
            break
    b.say('(y)')
    wait_until(lambda: (at_b, [['y']]) in listening.look().heard)
    assert sent < 2000 * len(flood)
    assert len(listening.heard) < 1000


def test_who_has_commands_waiting_gets_no_new_turn(listening):
    a, at_a = listening.connect()
    b, at_b = listening.connect()
    at_a.is_busy = True
    for _ in range(3 * tcp.MESSAGES_A_TURN):
        a.say('(x)')
    b.say('(y)')
    wait_until(lambda: (at_b, [['y']]) in listening.look().heard)
    for _ in range(20):
        listening.look()
        time.sleep(0.002)
    assert len(listening.heard) <= 1 + tcp.MESSAGES_A_TURN
    at_a.is_busy = False
    listening.wait(1 + 3 * tcp.MESSAGES_A_TURN, 'heard')


def test_a_message_of_very_many_expressions_is_passed_over(listening):
    a, at_a = listening.connect()
    a.say('(x)' * (tcp.MAX_EXPRESSIONS + 1))
    a.say('(x)' * tcp.MAX_EXPRESSIONS)
    assert listening.wait(1, 'heard') == [(at_a, [['x']] * tcp.MAX_EXPRESSIONS)]


def test_messages_that_swell_in_memory_wait_too(listening):
    peers = [listening.connect()[0] for _ in range(4)]
    swelling = frame(b'()' * 32_000) * 40  # a list each
    for peer in peers:
        peer.socket.setblocking(False)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(100):  # turns in which no event is taken
        for peer in peers:
            with suppress(BlockingIOError):
                peer.socket.send(swelling)
        listening.server.refill()
        time.sleep(0.002)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000  # kB
    late, at_late = listening.connect()
    late.say('(y)')
    wait_until(lambda: (at_late, [['y']]) in listening.look().heard)


def test_there_is_room_for_so_many_and_others_are_turned_away(listening, monkeypatch):
    monkeypatch.setattr(tcp, 'MAX_CLIENTS', 2)
    (a, _), _ = listening.connect(), listening.connect()
    late = RawPeer(listening.server.port('monitor'))
    assert late.hear() is None
    other, at_other = listening.connect('agent')
    assert at_other.send(b'(x)') and other.hear() == '(x)'
    a.close()
    listening.wait(1, 'gone')
    listening.connect()


def test_a_port_that_is_taken_is_named_with_the_way_out():
    with socket.create_server(('127.0.0.1', 0)) as other:
        port = other.getsockname()[1]
        server = TcpServer('127.0.0.1', {'a': 0, 'b': port}, {'b': '--b'})
        with pytest.raises(SimSparkPortTaken, match=f'{port}.*--b'):
            server.bind()


def test_stop_ends_all_connections_and_may_be_called_twice(listening):
    a, _ = listening.connect()
    listening.server.stop()
    assert a.hear() is None
    listening.server.stop()
