# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Connections: messages arrive whole and in order, and no client delays another."""

import asyncio
from contextlib import suppress
import resource
import threading
import time

import pytest
from waiting import wait_until

from test.gateways.simspark.peers import RawPeer
from urlab_ros_bridge.gateways.simspark import connections
from urlab_ros_bridge.gateways.simspark.connections import Ports
from urlab_ros_bridge.gateways.simspark.wire.framing import frame


class Collector:
    """A handler that records what it is called for; each expression is a turn of its own."""

    def __init__(self, speaks_first=False):
        self.connections, self.gone, self.heard = [], [], []
        self.speaks_first = speaks_first

    def connected(self, connection):
        self.connections.append(connection)

    def received(self, connection, expressions):
        for item in expressions:
            if item == ['fails']:
                raise RuntimeError('a fault of the handler')
            self.heard.append((connection, item))
            yield

    def disconnected(self, connection):
        self.gone.append(connection)


class Listening:
    """Ports on the loop of a thread; with `held`, bytes are received and nothing is executed."""

    def __init__(self):
        self.agents, self.monitors = Collector(speaks_first=True), Collector()
        self.ports = Ports('127.0.0.1', {'agent': 0, 'monitor': 0}, {})
        self.ports.bind()
        self.held = self.holds = self.over = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._run(),))
        self._thread.start()

    async def _run(self):
        await self.ports.start({'agent': self.agents, 'monitor': self.monitors})
        while not self.over:
            self.holds = self.held
            if self.held:
                await asyncio.sleep(0.002)
            else:
                with suppress(RuntimeError):
                    await self.ports.serve(time.monotonic() + 0.01, 0.005)
        await self.ports.stop()

    def hold(self):
        self.held = True
        wait_until(lambda: self.holds)

    def stop(self):
        self.over = True
        self._thread.join()
        self._loop.close()
        self.ports.unbind()

    def connect(self, port='monitor', **options):
        side = self.agents if port == 'agent' else self.monitors
        before = len(side.connections)
        peer = RawPeer(self.ports.number(port), **options)
        wait_until(lambda: len(side.connections) > before)
        return peer, side.connections[-1]

    def heard(self, count):
        wait_until(lambda: len(self.monitors.heard) >= count)
        return self.monitors.heard

    def gone(self, count):
        wait_until(lambda: len(self.monitors.gone) >= count)
        return self.monitors.gone

    def send(self, connection, payload):
        async def send():
            return connection.send(payload)

        return asyncio.run_coroutine_threadsafe(send(), self._loop).result()


@pytest.fixture
def listening():
    found = Listening()
    yield found
    found.stop()


def test_messages_arrive_in_order_with_their_client_and_a_fault_costs_one_of_them(listening):
    (a, at_a), (b, at_b) = listening.connect(), listening.connect('agent')
    for number in range(300):
        a.send(f'(n {number})(syn)')
        if number == 200:
            a.send('(syn)(fails)(lost)')
    wanted = [(at_a, item) for n in range(300) for item in (['n', str(n)], ['syn'])]
    wanted.insert(402, (at_a, ['syn']))
    assert listening.heard(601) == wanted
    assert listening.send(at_b, b'(x)') and b.receive() == '(x)'
    assert not listening.send(at_b, b'')  # clients take it for the end of the stream
    a.close()
    assert listening.gone(1) == [at_a]
    assert not listening.send(at_a, b'(x)')


@pytest.mark.parametrize(
    'bad',
    [b'(((', b'\xff\x00', b'(' * 3000, b'', b'(' + b'()' * connections.MAX_LISTS + b')',
     b'(x)' * (connections.MAX_EXPRESSIONS + 1)],
)  # fmt: skip
def test_a_message_that_is_invalid_empty_or_too_much_is_ignored(listening, bad):
    a, at_a = listening.connect()
    a.socket.sendall(frame(bad) * 20)
    a.send('(x)' * connections.MAX_EXPRESSIONS)
    wanted = [(at_a, ['x'])] * connections.MAX_EXPRESSIONS
    assert listening.heard(len(wanted)) == wanted


def test_a_client_that_never_reads_loses_whole_messages_and_costs_its_buffer(listening):
    a, at_a = listening.connect(receive_buffer=4096)
    b, at_b = listening.connect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    payload = b'(' + b'x' * 50_000 + b')'
    for _ in range(1000):
        listening.send(at_a, payload)
        listening.send(at_b, b'(y)')
        assert b.receive() == '(y)'
    assert at_a.dropped > 900 and at_b.dropped == 0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kB
    # What it reads later is whole.
    passed = 1000 - at_a.dropped
    assert {a.receive() for _ in range(passed)} == {payload.decode()}
    wait_until(lambda: listening.send(at_a, b'(z)'))
    assert a.receive() == '(z)'


@pytest.mark.parametrize('flood', [b'(x)', b'()' * 2000], ids=['many', 'large'])
def test_a_flood_waits_in_its_own_socket_and_others_have_their_turn(listening, flood):
    peers = [listening.connect()[0] for _ in range(4)]
    b, at_b = listening.connect()
    listening.hold()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sent, most = 0, 0
    data = frame(flood) * (1 + 100_000 // len(flood))
    for peer in peers:
        peer.socket.setblocking(False)
        for _ in range(200):
            most += len(data)
            with suppress(BlockingIOError):
                sent += peer.socket.send(data)
                time.sleep(0.0005)
    assert sent < most / 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kB
    b.send('(y)')
    listening.held = False
    wait_until(lambda: (at_b, ['y']) in listening.monitors.heard)
    earlier = listening.monitors.heard.index((at_b, ['y']))
    assert earlier < 200_000 / len(flood)  # at most what had been read of the others


def test_clients_take_turns_command_by_command(listening):
    (a, _), (b, at_b) = listening.connect(), listening.connect()
    listening.hold()
    a.send('(x)' * 200)
    b.send('(y)(z)')
    time.sleep(0.05)
    listening.held = False
    heard = listening.heard(202)
    assert heard.index((at_b, ['z'])) < 6


def test_messages_sent_before_a_close_are_executed(listening):
    """Also when it has not read everything, so that the system resets its connection."""
    for number in range(20):
        a, at_a = listening.connect()
        listening.hold()
        a.send(f'(n {number})')
        listening.send(at_a, b'(never read)')
        a.close()
        listening.send(at_a, b'(fails)')
        listening.send(at_a, b'(fails)')
        listening.held = False
        assert listening.heard(number + 1)[-1] == (at_a, ['n', str(number)])
        assert listening.gone(number + 1)[-1] is at_a


def test_the_number_of_clients_is_limited_and_agents_that_never_spoke_give_way(
    listening, monkeypatch
):
    monkeypatch.setattr(connections, 'MAX_CLIENTS', 2)
    monkeypatch.setattr(connections, 'SILENT_SECONDS', 0.0)
    (a, _), _ = listening.connect(), listening.connect()
    late = RawPeer(listening.ports.number('monitor'))
    assert late.receive() is None
    (other, at_other), (silent, _) = listening.connect('agent'), listening.connect('agent')
    other.send('(syn)')
    wait_until(lambda: listening.agents.heard)
    listening.connect('agent')
    assert silent.receive() is None
    assert listening.send(at_other, b'(x)') and other.receive() == '(x)'
    a.close()
    listening.gone(1)
    listening.connect()
