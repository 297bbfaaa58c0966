#!/usr/bin/env python3
# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What hostile frames cost the other clients of a server.

A server program is attacked by this process without a session, while two processes with sessions
of their own ask for `status` over ZMQ and step through shared memory.  For each attack: the
longest time that either waited, and the requests that each got done compared with those before.
A flood of requests that are legal, but need a session that the sender has not, is the floor: what
any client may cost the others.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
import json
import multiprocessing
import os
import subprocess
import sys
import time

import msgpack
from ratios import note
import zmq

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.wire.encoding import codec

MEGABYTE = 1 << 20
FLOOD = 3.0  # s
PER_SECOND = 1000


def lists(item: bytes, size: int) -> bytes:
    """Return msgpack: a list of so many bytes, of one item."""
    count = size // len(item)
    return b'\xdd' + count.to_bytes(4, 'big') + item * count


def large(size: int) -> Iterator[tuple[str, bytes]]:
    """Return frames of about a size that cost more than they should."""
    inside = b'\x82\xa2op\xa1x\xa1a'
    yield 'list of maps', lists(b'\x80', size)
    yield 'map with a list of maps', inside + lists(b'\x80', size)
    yield 'map with a list of nils', inside + lists(b'\xc0', size)
    yield 'map with nested lists', inside + b'\x91' * size + b'\xc0'
    yield 'lists of 15 lists', inside + lists(b'\x9f' + b'\x90' * 15, size)
    keys = [key * (2**61 - 1) % 2**64 for key in range(1, size // 10)]
    keys = [key for key in keys if key >= 2**32]
    pairs = b''.join(b'\xcf' + key.to_bytes(8, 'big') + b'\xc0' for key in keys)
    yield 'int keys that collide', inside + b'\xdf' + len(keys).to_bytes(4, 'big') + pairs
    yield 'binary keys', inside + lists(b'\x81\xc4\x01k\xc0', size)
    yield 'extensions', inside + lists(b'\xd4\x07\x00', size)
    yield 'json maps', b'{"op":"x","a":[' + b'{},' * (size // 3) + b'{}]}'
    yield 'json brackets', b'{"op":"x","a":' + b'[' * size
    yield 'json digits', b'{"op":"x","a":' + b'9' * size + b'}'
    yield 'json integers', b'{"op":"x","a":[' + b'9,' * (size // 2) + b'9]}'
    yield 'json escapes', b'{"op":"x","a":"' + b'\\ud83d\\ude00' * (size // 12) + b'"}'
    yield 'json keys', b'{"op":"x",' + b'"":0,' * (size // 5) + b'"":0}'
    yield 'json 1e999', b'{"op":"x","a":[' + b'1e999,' * (size // 6) + b'0]}'


def legal(size: int) -> Iterator[tuple[str, bytes]]:
    """Return frames of about a size that any client may send, for comparison."""
    yield 'LEGAL text', msgpack.packb({'op': 'x', 'xml': '<a b="1 2 3"/>' * (size // 14)})
    yield 'LEGAL binary', msgpack.packb({'op': 'x', 'data': os.urandom(size)})


def small() -> Iterator[tuple[str, bytes]]:
    """Return frames that come in floods."""
    yield 'LEGAL without session', codec.pack({'op': 'status', 'session_id': 'x' * 36})
    yield 'LEGAL without session, json', codec.pack({'op': 'status', 'session_id': 'x'}, 'json')
    for size in (1000, 4000, 16000, 60000):
        for name, frame in large(size):
            yield f'{name}, {size}', frame


def victim(transport: str, endpoint: str, pipe) -> None:
    """Ask all the time; tell the longest wait and the count between two messages of the pipe."""
    client = Client('127.0.0.1', int(endpoint.rsplit(':', 1)[1]), shared=True, transport=transport)
    client.connect()
    client.timeout = 120.0
    if transport == 'shm':
        client.set_mode('direct')
    call = client.status if transport == 'zmq' else client.step
    pipe.send(None)
    clock = time.perf_counter
    while True:
        pipe.recv()
        longest, count, begin = 0.0, 0, clock()
        last = begin
        while not pipe.poll():
            call()
            now = clock()
            longest, last, count = max(longest, now - last), now, count + 1
        pipe.recv()
        pipe.send((longest, count / (last - begin)))


class Victims:
    """The processes that suffer."""

    def __init__(self, endpoint: str) -> None:
        self.pipes = []
        for transport in ('zmq', 'shm'):
            here, there = multiprocessing.Pipe()
            process = multiprocessing.Process(
                target=victim, args=(transport, endpoint, there), daemon=True
            )
            process.start()
            here.recv()
            self.pipes.append(here)

    def begin(self) -> None:
        """Begin to measure."""
        for pipe in self.pipes:
            pipe.send(True)

    def end(self) -> list[tuple[float, float]]:
        """Return (longest wait in s, requests per second) of each."""
        for pipe in self.pipes:
            pipe.send(True)
        return [pipe.recv() for pipe in self.pipes]


def main() -> int:
    """Print a row for each attack."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--megabytes', type=int, nargs='*', default=[1, 4, 16])
    parser.add_argument('--no-flood', action='store_true')
    parser.add_argument('--only', default='', help='attacks whose name begins so')
    parser.add_argument('--json', action='store_true', help='one JSON line for each row')
    options = parser.parse_args()
    ports = [f'--{name}-port=0' for name in ('rpc', 'state', 'camera', 'control', 'info')]
    command = [sys.executable, '-m', 'urlab_ros_bridge.cli.main', 'server', '--world', 'rover']
    command += ['--cameras', 'off', '--log-level', 'error', *ports]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            line = server.stdout.readline()
            endpoint = dict(w.split('=', 1) for w in line.split() if '=' in w)['rpc']
            run(endpoint, options)
        finally:
            server.terminate()
    return 0


class Attacker:
    """One client without a session that sends what it likes."""

    def __init__(self, context: zmq.Context, endpoint: str) -> None:
        self._socket = context.socket(zmq.DEALER)
        self._socket.linger = 0
        self._socket.sndhwm = self._socket.rcvhwm = 100_000
        self._socket.connect(endpoint)

    def one(self, frame: bytes) -> str:
        """Send one frame and return the code of the answer."""
        self._socket.send_multipart([b'', frame])
        if not self._socket.poll(120_000):
            return ''
        code = codec.unpack(self._socket.recv_multipart()[-1]).get('code', '')
        time.sleep(0.2)
        return code

    def flood(self, frame: bytes) -> str:
        """Send the frame PER_SECOND times a second and return the codes of the answers."""
        begin, sent, codes = time.perf_counter(), 0, set()
        while (passed := time.perf_counter() - begin) < FLOOD:
            while sent < passed * PER_SECOND:
                self._socket.send_multipart([b'', frame])
                sent += 1
            while self._socket.poll(0):
                codes.add(codec.unpack(self._socket.recv_multipart()[-1]).get('code', ''))
            time.sleep(0.001)
        return '/'.join(sorted(codes))

    def drain(self) -> None:
        """Take what is still to come, so that it is not counted for the next attack."""
        while self._socket.poll(1000):
            self._socket.recv_multipart()


def show(name: str, found: list, base: list, answer: str, as_json: bool) -> None:
    """Print one row: longest wait and share of the quiet rate, for each transport."""
    if as_json:
        print(json.dumps([name, found, base, answer]), flush=True)
        return
    cells = '  '.join(
        f'{1e3 * wait:9.1f} {rate / quiet:6.2f}'
        for (wait, rate), (_, quiet) in zip(found, base, strict=True)
    )
    for transport, (_, rate), (_, quiet) in zip(('ZMQ', 'SHM'), found, base, strict=True):
        note(f'{name}, {transport}', rate / quiet, 'rate without attack')
    print(f'{name:44s} {cells}  {answer}', flush=True)


def run(endpoint: str, options: argparse.Namespace) -> None:
    """Attack one server in all ways."""
    context = zmq.Context()
    attacker, victims = Attacker(context, endpoint), Victims(endpoint)

    victims.begin()
    time.sleep(FLOOD)
    base = victims.end()
    print(f'{"":44s} {"ZMQ ms":>9s} {"ratio":>6s}  {"SHM ms":>9s} {"ratio":>6s}')
    show('nothing', base, base, '', options.json)

    attacks = [
        (f'{name}, {size} MB', attacker.one, frame)
        for size in options.megabytes
        for name, frame in (*large(size * MEGABYTE - 64), *legal(size * MEGABYTE - 64))
        if name.startswith(options.only)
    ]
    if not options.no_flood:
        attacks += [
            (f'{PER_SECOND}/s: {name}', attacker.flood, frame)
            for name, frame in small()
            if name.startswith(options.only)
        ]
    for name, attack, frame in attacks:
        victims.begin()
        answer = attack(frame)
        show(name, victims.end(), base, answer, options.json)
        if attack == attacker.flood:
            attacker.drain()
    context.destroy(linger=0)


if __name__ == '__main__':
    sys.exit(main())
