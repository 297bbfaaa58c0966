# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What the step server and every gateway guarantee to their clients, whatever the protocol.

A peer that does not read delays nobody, wrong bytes end only the connection that sent them, the
end of a simulation is reported and the next one is served, and a stop takes a moment.
"""

import contextlib
import socket
import struct
import threading
import time

from bundled_server import client_of
from bundled_server import start_server
from ports import free_port
import pytest
from raw_peer import dial
from raw_peer import frame
from raw_peer import opened
from raw_peer import opening
from raw_peer import rest
from raw_peer import status
import raw_zmtp
from simspark_client import MonitorClient
from waiting import wait_until
from websockets.exceptions import ConnectionClosed

from test.gateways.chiral.stock_client import connect_when_free
from test.gateways.chiral.stock_client import packed
from test.gateways.running import chiral_at
from test.gateways.running import field_at
from test.gateways.running import simspark_at
from test.gateways.simspark.peers import RawPeer
from test.gateways.virtual_field.field_client import FieldClient
from urlab_ros_bridge.gateways.errors import PortTaken
from urlab_ros_bridge.gateways.simspark.wire.framing import frame as simspark_frame
from urlab_ros_bridge.wire.encoding import codec

PATIENCE = 60.0
HTTP = b'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
ANYTHING = (b'', HTTP, b'\x16\x03\x01\x02\x00', b'\x00' * 100, b'\xff' * 70_000)


class Subject:
    """
    A server in this process: a gateway in front of a simulation of its own, or the step server.

    :ivar world: bundled world that it serves.
    :ivar messages: invalid messages of its protocol, sent after the handshake.
    :ivar config: settings of the gateway.
    """

    world = 'rover'
    messages = ()

    def __init__(self, paused=True, **config):
        self.config = config
        self.rpc_port = free_port()
        self._paused = paused  # a world that stands costs little
        self._stack = contextlib.ExitStack()
        self.begin_simulation()
        self.server = self._stack.enter_context(self.run())

    def begin_simulation(self):
        config = {'world': self.world, 'rpc_port': self.rpc_port, 'cameras': 'off'}
        self.simulation = start_server(**config, paused=self._paused)

    def stop(self):
        self._stack.close()

    path = '/'

    def open(self):
        """Return a raw connection after the handshake of the protocol."""
        return opened(self.port, self.path)

    @property
    def port(self):
        return self.server.port


class ChiralSubject(Subject):
    messages = (
        *(frame(data) for data in (b'', b'\x01', b'\xff' * 17, b'\x00' * 5000)),
        frame(b'a text', 0x81),
        frame(packed({'type': 'go'})),
    )

    def run(self, **config):
        config |= self.config
        return chiral_at(self.rpc_port, {'pace': 'lockstep'}, viewers=True, **config)

    path = '/view'  # there is one driver at a time

    def ask(self):
        with connect_when_free(self.server.url) as client:
            return client.observe().type

    def watch(self):
        """Return a function: wait for the message that the simulation has ended."""
        client = connect_when_free(self.server.url)
        client.observe()  # until its session has begun, a lost simulation is reported otherwise
        return lambda: client.receive(timeout=PATIENCE)

    def stall(self):
        link = opened(self.port, '/view', receive_buffer=4096)
        return link, frame(packed({'type': 'obs_request'})) * 100


class FieldSubject(Subject):
    hello = b'{"version": 1, "type": "hello", "payload": {"role": "spectator"}}'
    texts = (b'', b'{', b'[' * 60_000, b'\xff', b'{"version": 2, "type": "x", "payload": {}}')
    messages = (*(frame(text, 0x81) for text in texts), frame(hello, 0x81), frame(hello) * 50)

    def run(self, **config):
        return field_at(self.rpc_port, **config | self.config)

    def ask(self):
        with FieldClient(self.server.url, 'spectator') as client:
            return client.scene()['timestamp']

    def watch(self):
        client = FieldClient(self.server.url, 'spectator')
        return lambda: client.scene(lambda _: False)

    def stall(self):
        return opened(self.port, receive_buffer=4096), frame(self.hello, 0x81) * 50


class SimSparkSubject(Subject):
    world = 'soccer'
    texts = (b'(((', b')))', b'\xff\x00', b'(ball (pos nan 0 1))', b'', b'(x)' * 999)
    messages = (*map(simspark_frame, texts), struct.pack('>I', 1 << 31))

    def run(self, port=0):
        return simspark_at(self.rpc_port, monitor_port=port)

    @property
    def port(self):
        return self.server.monitor_port

    def open(self):
        return dial(self.port)

    def ask(self):
        with MonitorClient(port=self.port, timeout=PATIENCE) as client:
            return client.update().play_mode

    def watch(self):
        """Return a function: wait until the same connection receives a world in full."""
        peer = RawPeer(self.port)
        peer.receive_until(lambda text: 'RDS' in text)
        peer.send('(time 5)(ball (pos 1 1 1))')
        return lambda: peer.receive_until(lambda text: 'RSG' in text and 'FieldLength' in text)

    def stall(self):
        return dial(self.port, receive_buffer=4096), simspark_frame(b'(reqfullstate)') * 50


class ServerSubject(Subject):
    """The step server itself, by bare ZMTP."""

    messages = (
        raw_zmtp.frame(b'no delimiter'),
        raw_zmtp.frame(b'', raw_zmtp.MORE) + raw_zmtp.frame(b'\xc1'),
        raw_zmtp.frame(b'', raw_zmtp.MORE) * 200,
        b'\xff' * 17,
    )

    def run(self):
        return contextlib.nullcontext()  # it runs already

    def stop(self):
        self.simulation.stop()

    @property
    def port(self):
        return self.rpc_port

    def open(self, receive_buffer=0):
        link = dial(self.port, receive_buffer=receive_buffer)
        raw_zmtp.shake_hands(link, 'DEALER')
        return link

    def ask(self):
        with client_of(self.simulation, shared=True, timeout=PATIENCE) as client:
            return client.status().mode

    def stall(self):
        request = raw_zmtp.frame(b'', raw_zmtp.MORE) + raw_zmtp.frame(codec.pack({'op': 'meta'}))
        return self.open(receive_buffer=4096), request * 50


GATEWAYS = {
    'chiral': ChiralSubject,
    'virtual field': FieldSubject,
    'simspark': SimSparkSubject,
}
SUBJECTS = GATEWAYS | {'step server': ServerSubject}
every_one = pytest.mark.parametrize('name', SUBJECTS)
every_gateway = pytest.mark.parametrize('name', GATEWAYS)
web_sockets = pytest.mark.parametrize('name', ['chiral', 'virtual field'])


@contextlib.contextmanager
def running(name, **config):
    subject = SUBJECTS[name](**config)
    try:
        yield subject
    finally:
        subject.stop()
        subject.simulation.stop()


@pytest.fixture(scope='module')
def subjects():
    with contextlib.ExitStack() as stack:
        found = {}

        def get(name):
            if name not in found:
                found[name] = stack.enter_context(running(name))
            return found[name]

        yield get


@every_one
def test_wrong_bytes_end_at_most_the_connection_that_sent_them(subjects, name):
    subject = subjects(name)
    for number, (dials, sent) in enumerate(
        (
            *((dial, each) for each in ANYTHING),
            *((lambda port: subject.open(), each) for each in subject.messages),
        )
    ):
        with dials(subject.port) as link:
            with contextlib.suppress(ConnectionError):
                link.sendall(sent)
                link.sendall(sent[: len(sent) // 2])
            if number % 2:  # it ends with a reset
                link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        assert subject.ask() is not None


@contextlib.contextmanager
def small_buffers():
    """Whoever sends to a connection accepted meanwhile soon notices that nobody reads."""
    accept = socket.socket.accept

    def accept_with_small_buffer(listener):
        link, address = accept(listener)
        link.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        return link, address

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, 'accept', accept_with_small_buffer)
        yield


@every_one
def test_a_peer_that_does_not_read_delays_nobody_and_no_stop(name):
    with running(name, paused=False) as subject, contextlib.ExitStack() as stack:
        before = time.monotonic()
        subject.ask()
        before = time.monotonic() - before
        with small_buffers():
            stalled = [subject.stall() for _ in range(2)]
        for link, requests in stalled:
            stack.enter_context(link)
            link.settimeout(0.2)
            with contextlib.suppress(TimeoutError, ConnectionError):
                for _ in range(2000):
                    link.sendall(requests)
        began = time.monotonic()
        for _ in range(5):
            subject.ask()
        assert time.monotonic() - began < 5 * 10 * (before + 0.2)
        began = time.monotonic()
        subject.stop()
        assert time.monotonic() - began < 14  # not the twenty seconds that a full socket gets


@every_gateway
def test_the_next_simulation_is_served_after_the_end_of_one(name):
    with running(name) as subject:
        wait = subject.watch()
        subject.simulation.stop()
        if name != 'simspark':
            with pytest.raises(ConnectionClosed, match=r'1013 .*the simulation has gone'):
                wait()
        subject.begin_simulation()
        if name == 'simspark':  # whose clients stay connected
            wait()

        def is_served():
            with contextlib.suppress(ConnectionClosed, OSError):
                return subject.ask() is not None

        wait_until(is_served)


@every_gateway
def test_a_taken_port_is_named_with_the_option_for_another(subjects, name):
    subject = subjects(name)
    with (
        pytest.raises(PortTaken, match=f'{subject.port}.* with --'),
        subject.run(port=subject.port),
    ):
        pass


@every_one
def test_a_stop_ends_all_connections_and_frees_the_port(name):
    with running(name) as subject:
        subject.ask()
        port = subject.port
        links = [subject.open() for _ in range(2)]
        stopper = threading.Thread(target=subject.stop)
        stopper.start()
        for link in links:
            received = rest(link)  # ends
            if name in ('chiral', 'virtual field'):
                assert b'the gateway is shutting down' in received
            link.close()
        stopper.join()
        with socket.create_server(('127.0.0.1', port)):
            pass


@web_sockets
def test_a_token_is_required_and_pages_of_another_site_are_refused(name):
    """Also a site whose name resolves to this machine."""
    with running(name, token='s3cret') as subject:
        for query, *headers in (['?token=other'], ['', 'Authorization: Bearer other']):
            assert ' 401 ' in status(subject.port, opening(subject.path + query, *headers))[0]
        for query, *headers in (['?token=s3cret'], ['', 'Authorization: Bearer s3cret']):
            opened(subject.port, subject.path + query, *headers).close()
        request = opening(f'{subject.path}?token=s3cret', 'Origin: http://rebound.example')
        request = request.replace(b'Host: x', b'Host: rebound.example')
        assert ' 403 ' in status(subject.port, request)[0]
