# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Peers that send nonsense, hang or never read, beside a spectator who keeps its rate."""

import json
import random
import threading
import time

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from test.gateways.common.serving.raw_peer import BINARY
from test.gateways.common.serving.raw_peer import dial
from test.gateways.common.serving.raw_peer import frame
from test.gateways.common.serving.raw_peer import opened
from test.gateways.webxr.protocol.test_publishing import glb
from test.gateways.webxr.protocol.test_xr_input import SAMPLE
from urlab_ros_bridge.gateways.webxr.errors import BadMessage
from urlab_ros_bridge.gateways.webxr.protocol.envelope import Envelope
from urlab_ros_bridge.gateways.webxr.protocol.envelope import read_envelope
from urlab_ros_bridge.gateways.webxr.protocol.hello import read_hello
from urlab_ros_bridge.gateways.webxr.protocol.publishing import PUBLICATIONS
from urlab_ros_bridge.gateways.webxr.protocol.publishing import read_publication
from urlab_ros_bridge.gateways.webxr.protocol.xr_input import read_xr_input

TEXT = 0x81
TOKENS = (
    b'null', b'true', b'-1', b'1e308', b'""', b'[]', b'{}', b'[[[[', b'"\\u0000"', b'NaN',
    b'1e999', b'"x"', b'\xff', b',', b'18446744073709551616', b'[1,2]', b'0.0',
)  # fmt: skip


def messages():
    points = {'overlay_id': 'p', 'points': [[1, 2, 3]], 'point_size': 0.1}
    mesh = {'mesh_id': 'm', 'mesh_data_b64': glb().hex(), 'translation': [1, 2, 3]}
    for kind, payload in (
        ('hello', {'role': 'vr_client', 'character_mode': 'two-cr', 'extensions': ['binary']}),
        ('xr_input', SAMPLE),
        ('add_mesh', mesh),
        ('update_mesh_transform', mesh),
        ('update_overlay_points', points),
        ('heartbeat', {}),
    ):
        yield json.dumps({'version': 1, 'type': kind, 'payload': payload}).encode()


def spoiled(rng, seeds):
    """Return a message with some of its bytes or values replaced."""
    data = bytearray(rng.choice(seeds))
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data))
        way = rng.randrange(4)
        if way == 0:
            data[at] = rng.randrange(256)
        elif way == 1:
            data[at : at + rng.randint(1, 12)] = rng.choice(TOKENS)
        elif way == 2:
            del data[at : at + rng.randint(1, 40)]
            data += b' '
        else:
            data[at:at] = data[at : at + rng.randint(1, 30)]
    return bytes(data)


def decode(data):
    """Read a message as each role would; return whether any of it was refused."""
    try:
        envelope = read_envelope(data)
    except BadMessage:
        return True
    refused = False
    for read in (
        read_hello,
        read_xr_input,
        *(
            lambda payload, kind=kind: read_publication(Envelope(kind, payload))
            for kind in PUBLICATIONS
        ),
    ):
        try:
            read(envelope.payload)
        except BadMessage:
            refused = True
    return refused


@pytest.mark.parametrize('count', [3000, pytest.param(100_000, marks=pytest.mark.long)])
def test_any_message_is_read_or_refused(count):
    rng, seeds = random.Random(count), list(messages())
    refused = sum(decode(spoiled(rng, seeds)) for _ in range(count))
    assert refused > count // 2


class Watcher:
    """A spectator who counts, in a thread of its own."""

    def __init__(self, url):
        self.count = 0
        self._stop = threading.Event()
        self._url = url.replace('http', 'ws', 1)
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._ready.wait(60)

    def _run(self):
        with connect(self._url, max_size=None, compression=None, ping_interval=None) as socket:
            socket.send('{"version": 1, "type": "hello", "payload": {"role": "spectator"}}')
            while not self._stop.is_set():
                socket.recv(timeout=60)
                self.count += 1
                if self.count > 10:
                    self._ready.set()

    def rate(self, seconds):
        before, began = self.count, time.monotonic()
        time.sleep(seconds)
        return (self.count - before) / (time.monotonic() - began)

    def stop(self):
        self._stop.set()
        self._thread.join()


@pytest.fixture
def watcher(field):
    watching = Watcher(field.url)
    yield watching
    watching.stop()


@pytest.mark.parametrize('count', [2000, pytest.param(100_000, marks=pytest.mark.long)])
def test_nonsense_costs_a_spectator_nothing(field, watcher, count):
    rng, seeds = random.Random(7), list(messages())
    quiet = watcher.rate(1.0)
    sent, before, began = 0, watcher.count, time.monotonic()
    while sent < count:
        with connect(
            field.url.replace('http', 'ws', 1), max_size=None, compression=None,
            close_timeout=0.1, ping_interval=None,
        ) as peer:  # fmt: skip
            try:
                for _ in range(500):
                    data = spoiled(rng, seeds)
                    peer.send(data, text=False)
                    sent += 1
            except ConnectionClosed:
                continue
    rate = (watcher.count - before) / (time.monotonic() - began)
    # Whoever makes the nonsense has the interpreter of the one who watches, here.
    assert rate > 0.3 * quiet


def test_who_never_reads_and_who_hangs_cost_a_spectator_nothing(field, watcher):
    quiet = watcher.rate(1.0)
    hello = b'{"version": 1, "type": "hello", "payload": {"role": "spectator"}}'
    silent = [opened(field.port) for _ in range(2)]  # the handshake, and no hello
    stuck = [opened(field.port, receive_buffer=4096) for _ in range(4)]
    for link in stuck:
        link.sendall(frame(hello, TEXT))
    half = [dial(field.port) for _ in range(20)]
    cut = opened(field.port)
    cut.sendall(frame(b'x' * 100, BINARY)[:50])
    deadline = time.monotonic() + 60
    # What a stuck peer does not take is dropped, and nothing piles up.
    while min((c.dropped for c in field.clients if c.sees), default=0) == 0:
        dropped = sum(client.dropped > 0 for client in field.clients)
        if dropped >= len(stuck):
            break
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert watcher.rate(2.0) > 0.5 * quiet
    for link in (*silent, *stuck, *half, cut):
        link.close()
