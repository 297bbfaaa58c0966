# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What is not ZeroMQ 3 reaches no port of the server: HTTP of web pages, TLS, ZeroMQ 2.

A peer that begins with anything but the signature of ZMTP counts as ZMTP 1.0 for libzmq: its
first byte is the length of a frame.  So the text of an HTTP request can be continued by a body
that holds whole messages.
"""

import socket

from bundled_server import port_of
from bundled_server import running_server
import pytest

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.wire import control
from urlab_ros_bridge.wire.encoding import codec

PATIENCE = 30.0
GREETING_BYTES = 64
PORTS = ('rpc', 'state', 'control', 'info', 'camera')
BEGINNINGS = {
    'http-post': b'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4096\r\n\r\n',
    'tls': bytes.fromhex('16030100a5010000a10303') + bytes(range(157)),
    'zmtp-1': b'\x01\x00',  # an anonymous peer
}


def frame(body, more=False):
    """Return a frame of ZMTP 1.0: its length with the flags, the flags, the body."""
    assert len(body) < 254
    return bytes([1 + len(body), more]) + body


def after(beginning):
    """Return the bytes that end the frames which a beginning looks like."""
    place = 0
    while place < len(beginning):
        length = beginning[place]
        place += (
            9 + int.from_bytes(beginning[place + 1 : place + 9]) if length == 255 else 1 + length
        )
        assert place < 1 << 16, 'a beginning that nobody could continue'
    return bytes(place - len(beginning)) + frame(b'')


def messages(port):
    """Return what moves a robot, changes the mode or subscribes, at a port."""
    if port == 'control':
        setpoints = control.pack_setpoints(range(4), [8.0] * 4)
        return 100 * (frame(control.control_topic('control', 'rover'), True) + frame(setpoints))
    if port == 'rpc':
        return frame(b'', True) + frame(codec.pack({'op': 'hello'}))
    return frame(b'\x01')  # a subscription to everything


@pytest.fixture(scope='module')
def server():
    """A server with all of its ports: what they are, and a client."""
    with running_server(world='rover', cameras='on') as running:
        ports = {name: port_of(running, name) for name in ('rpc', 'state', 'control', 'info')}
        with Client(rpc_port=ports['rpc'], shared=True, timeout=PATIENCE) as client:
            (robot,) = client.handshake.articulations.values()
            ports['camera'] = min(camera.port for camera in robot.cameras.values())
            yield ports, client


@pytest.mark.parametrize('beginning', BEGINNINGS)
@pytest.mark.parametrize('port', PORTS)
def test_a_foreign_protocol_is_refused(server, port, beginning):
    ports, client = server
    attack = BEGINNINGS[beginning] + after(BEGINNINGS[beginning]) + messages(port)
    received = b''
    with socket.create_connection(('127.0.0.1', ports[port]), PATIENCE) as peer:
        try:
            peer.sendall(attack)
            while len(received) <= GREETING_BYTES and (part := peer.recv(1 << 16)):
                received += part
        except ConnectionError:
            pass  # it hung up with bytes unread
    assert len(received) <= GREETING_BYTES
    status = client.status().raw
    assert (status['mode'], status['control_stream']['received']) == ('live', 0)
