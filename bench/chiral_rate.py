#!/usr/bin/env python3
# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Round trips of the protocol page's observation through the Chiral gateway.

480x640 colour, 480x640 float32 depth and seven streams of seven numbers, asked for over loopback,
one after the other, by the same WebSocket client:

- ceiling: a bare socket that answers every request with the same prebuilt bytes;
- gateway: the gateway's connection, session and codec; header and frame are remade each time;
- converted: the same, after the copy that a new image of a simulation needs (BGRA to RGB).

The three run in processes of their own, in turns, so that a busy machine hurts all alike.  `wire`
is a client that only receives the bytes, `websockets` the library's asyncio client, which most
policies use.  The ratio is the median over the rounds.  With --busy 2 on two processors, all of
them compete with programs that compute.

    . ./env.sh && python bench/chiral_rate.py [--seconds 0.2] [--rounds 25] [--busy 2]
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable
from collections.abc import Iterator
from contextlib import contextmanager
import multiprocessing
import os
import socket
import statistics
import struct
import threading
import time
from typing import Any

import busy_loops
import numpy as np
from ratios import note
from websockets.asyncio.client import connect
from websockets.http11 import Request
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

from urlab_ros_bridge.gateways.chiral.profile.profile import Profile
from urlab_ros_bridge.gateways.chiral.protocol import codec
from urlab_ros_bridge.gateways.chiral.serving.observer import CameraSource
from urlab_ros_bridge.gateways.chiral.serving.observer import ImageBuffers
from urlab_ros_bridge.gateways.chiral.serving.session import ChiralSession
from urlab_ros_bridge.gateways.serving.access import Access
from urlab_ros_bridge.gateways.serving.websocket_server import WebSocketConnection
from urlab_ros_bridge.gateways.serving.websocket_server import WebSocketServer
from urlab_ros_bridge.kept_memory import keep_freed_memory

REQUEST = b''.join(codec.encode_request(codec.OBSERVE))
HEIGHT, WIDTH = 480, 640
GOAL = 0.8
SERVERS = ('ceiling', 'gateway', 'converted')
OPENING = (
    b'GET / HTTP/1.1\r\nHost: bench\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
    b'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n'
)


class FixedPace:
    """Stands for a robot: the same arrays, a new timestamp for each observation."""

    in_order = True
    profile = Profile()

    def __init__(self, converts: bool) -> None:
        random = np.random.default_rng(1)
        camera = CameraSource('wrist_cam', '', 'rgb', 'depth', WIDTH, HEIGHT, np.eye(3))
        self._bgra = random.integers(0, 256, (HEIGHT, WIDTH, 4), np.uint8)
        self._metres = random.random((HEIGHT, WIDTH), np.float32)
        self._images = ImageBuffers([camera])
        self._converts = converts
        self._streams = {f'stream_{i}': np.ones(7, np.float32) for i in range(7)}
        self._convert()

    def observer(self) -> None:
        """Return nothing: the observations need none."""

    def observe(self, _: object) -> codec.Observation:
        """Return an observation of the page's size."""
        if self._converts:
            self._convert()
        now = time.monotonic()
        images = self._images
        view = codec.CameraView(
            'wrist_cam',
            now,
            np.eye(3),
            np.eye(4),
            images.image['wrist_cam'],
            images.depth['wrist_cam'],
        )
        return codec.Observation(now, [view], self._streams)

    def _convert(self) -> None:
        self._images.copy_image('wrist_cam', self._bgra)
        self._images.depth['wrist_cam'] = self._metres


class Gateway:
    """Serves one client after the other with the gateway's own session."""

    def __init__(self, converts: bool) -> None:
        self._pace = FixedPace(converts)

    def admit(self, connection: WebSocketConnection, request: Request) -> None:
        """Let everyone in."""

    def serve(self, connection: WebSocketConnection) -> None:
        """Answer until the client leaves."""
        check = lambda: None  # noqa: E731
        session = ChiralSession(connection, self._pace, dict, check, drives=True, legacy=False)
        session.run()

    def left(self, connection: WebSocketConnection) -> None:
        """Forget nothing."""


def serve_ceiling(listener: socket.socket) -> None:
    """Answer everything that arrives with the same bytes."""
    seen = FixedPace(False).observe(None)
    payload = b''.join(codec.encode_observation(codec.ANSWERS[codec.OBSERVE], seen))
    frame = struct.pack('!BBQ', 0x82, 127, len(payload)) + payload
    while True:
        link, _ = listener.accept()
        with link:
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            protocol = ServerProtocol()
            while protocol.state is not OPEN:
                protocol.receive_data(link.recv(4096))
                for request in protocol.events_received():
                    protocol.send_response(protocol.accept(request))
                link.sendall(b''.join(protocol.data_to_send()))
            while data := link.recv(1 << 16):
                if data[0] & 0x0F == 8:
                    break
                link.sendall(frame)


def run_server(kind: str, port: Any) -> None:
    """Serve one client after the other; send the port."""
    keep_freed_memory()
    if kind == 'ceiling':
        listener = socket.create_server(('127.0.0.1', 0))
        port.send(listener.getsockname()[1])
        serve_ceiling(listener)
    server = WebSocketServer(Gateway(kind == 'converted'), Access(), 0, name='bench')
    server.bind()
    server.start()
    port.send(server.port)
    threading.Event().wait()


@contextmanager
def servers() -> Iterator[dict[str, int]]:
    """Run every server in a process; yield their ports."""
    ports, processes = {}, []
    for kind in SERVERS:
        theirs, ours = multiprocessing.Pipe()
        process = multiprocessing.get_context('fork').Process(
            target=run_server, args=(kind, theirs), daemon=True
        )
        process.start()
        processes.append(process)
        ports[kind] = ours.recv()
    try:
        yield ports
    finally:
        for process in processes:
            process.kill()
            process.join()


def library_round(port: int, seconds: float) -> tuple[np.ndarray, int]:
    """Return the times of the round trips (s) and the size of an answer, with the library."""

    async def measure() -> tuple[np.ndarray, int]:
        times, size = [], 0
        url = f'ws://127.0.0.1:{port}'
        async with connect(url, compression=None, max_size=None, proxy=None) as link:
            end = time.perf_counter() + seconds
            while (start := time.perf_counter()) < end:
                await link.send(REQUEST)
                size = len(await link.recv())
                times.append(time.perf_counter() - start)
        return np.array(times), size

    return asyncio.run(measure())


def wire_round(port: int, seconds: float) -> tuple[np.ndarray, int]:
    """Return the same with a client that only receives."""
    mask = os.urandom(4)
    masked = bytes(b ^ mask[i % 4] for i, b in enumerate(REQUEST))
    request = bytes((0x82, 0x80 | len(REQUEST))) + mask + masked
    buffer = bytearray(1 << 22)
    times, size = [], 0
    with socket.create_connection(('127.0.0.1', port)) as link:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        link.sendall(OPENING)
        while b'\r\n\r\n' not in link.recv(4096):
            pass
        end = time.perf_counter() + seconds
        while (start := time.perf_counter()) < end:
            link.sendall(request)
            have, size = 0, 10
            while have < size:
                have += link.recv_into(memoryview(buffer)[have:])
                if have >= 10:
                    size = 10 + struct.unpack_from('!Q', buffer, 2)[0]
            times.append(time.perf_counter() - start)
        link.sendall(b'\x88\x80' + mask)
    return np.array(times), size - 10


CLIENTS: dict[str, Callable[[int, float], tuple[np.ndarray, int]]] = {
    'websockets': library_round,
    'wire': wire_round,
}


def compare(client: str, ports: dict[str, int], rounds: int, seconds: float) -> float:
    """Print the figures of one client; return the ratio of the gateway to the ceiling."""
    measured: dict[str, list[tuple[np.ndarray, int]]] = {kind: [] for kind in SERVERS}
    for _ in range(rounds):
        for kind in SERVERS:
            measured[kind].append(CLIENTS[client](ports[kind], seconds))
    rates = {k: [len(t) / t.sum() for t, _ in runs] for k, runs in measured.items()}
    ratios = {
        kind: statistics.median(a / b for a, b in zip(rates[kind], rates['ceiling'], strict=True))
        for kind in SERVERS
    }
    pairs = zip(rates['gateway'], rates['ceiling'], strict=True)
    note(f'gateway, {client}', [a / b for a, b in pairs], 'ceiling')
    for kind, runs in measured.items():
        times = np.concatenate([t for t, _ in runs]) * 1e3
        rate, size = statistics.median(rates[kind]), runs[0][1]
        p50, p99 = np.percentile(times, [50, 99])
        print(
            f'{client:<11} {kind:<10} {rate:8.0f} {rate * size / 1e6:8.0f} '
            f'{p50:8.2f} {p99:8.2f} {ratios[kind]:8.2f}'
        )
    return ratios['gateway']


def main() -> int:
    """Run the benchmark; return 1 when the gateway misses its goal."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--seconds', type=float, default=0.2, help='per server and round')
    parser.add_argument('--rounds', type=int, default=25)
    busy_loops.add_option(parser)
    options = parser.parse_args()
    busy_loops.start(options.busy)
    print(
        f'{"client":<11} {"server":<10} {"per s":>8} {"MB/s":>8} {"p50 ms":>8} {"p99 ms":>8} '
        f'{"ratio":>8}'
    )
    with servers() as ports:
        reached = [compare(client, ports, options.rounds, options.seconds) for client in CLIENTS]
    verdict = 'reached' if min(reached) >= GOAL else 'MISSED'
    print(f'goal: {GOAL:.2f} of the ceiling: {verdict}')
    return 0 if verdict == 'reached' else 1


if __name__ == '__main__':
    raise SystemExit(main())
