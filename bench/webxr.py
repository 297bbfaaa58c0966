#!/usr/bin/env python3
# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What the Virtual Field gateway costs: 1 and 8 spectators, and 8 beside one that never reads, while
the world stands as on a page that is left open (in `bimanual` one can trembles); and 8 while all
its arms wave.

The step server and the gateway are programs of their own; the spectators only receive bytes, in
this process.  Of each run: scene_state a second (the slowest and the fastest spectator), bytes a
message, processor time of the gateway (of one core), and the real-time factor of the simulation.

Against that, in the same run, the same gateway with another sender: each state is made into JSON
for each client anew, by `json.dumps`, as the original server does.

Last, with playwright and a Chromium: from the request for the page to its first picture, drawn by
the processor at 1280 x 800, with nothing in the browser's cache; it shows robots and what stands
still, coarsely.  And to when the sky, the grid, handles and all pixels can be drawn.

    . ./env.sh && python bench/webxr.py [--world bimanual] [--seconds 5]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from contextlib import nullcontext
import importlib.util
import json
import math
import re
import selectors
import shutil
import socket
import statistics
import subprocess
import sys
import threading
import time
from typing import Any

import orjson
import psutil

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.client.model import read_robot

# Least rate of each spectator (Hz) and real-time factor.
GOAL, FACTOR = 71.0, 0.99
FIRST = 2.0  # s
HELLO = json.dumps({'version': 1, 'type': 'hello', 'payload': {'role': 'spectator'}}).encode()
OPENING = (
    b'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
    b'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n'
)
PROGRAM = (sys.executable, '-m', 'urlab_ros_bridge.cli.main')
SOFTWARE = (
    '--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
)  # fmt: skip
MARKS = """() => ['urlab-first-frame', 'urlab-complete'].map(
  (name) => performance.getEntriesByName(name)[0].startTime / 1e3)"""
PORTS = ('rpc', 'state', 'camera', 'control', 'info')


class Spectator:
    """
    Receives frames, as cheaply as can be.

    :ivar messages: how many came; `size` the bytes of the last one.
    """

    def __init__(self, port: int) -> None:
        self.link = socket.create_connection(('127.0.0.1', port))
        self.link.sendall(OPENING)
        answer = b''
        while b'\r\n\r\n' not in answer:
            answer += self.link.recv(1)
        self.link.sendall(bytes((0x81, 0x80 | len(HELLO))) + bytes(4) + HELLO)
        self.messages = self.size = 0
        self._bytes = bytearray()

    def read(self) -> None:
        """Take what is there."""
        self._bytes += self.link.recv(1 << 20)
        while True:
            head, size = frame_size(self._bytes)
            if not head or len(self._bytes) < head + size:
                return
            del self._bytes[: head + size]
            self.messages += 1
            self.size = size


def frame_size(data: bytearray) -> tuple[int, int]:
    """Return the bytes of head and message of the first frame, 0 and 0 when it is not there."""
    if len(data) < 10:
        return 0, 0
    short = data[1] & 0x7F
    if short == 126:
        return 4, int.from_bytes(data[2:4], 'big')
    if short == 127:
        return 10, int.from_bytes(data[2:10], 'big')
    return 2, short


@contextmanager
def program(command: list[str]) -> Iterator[tuple[psutil.Process, str]]:
    """Run a program; yield it and its first line."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield psutil.Process(process.pid), process.stdout.readline()
    finally:
        process.terminate()
        process.wait()


def cpu_of(process: psutil.Process) -> float:
    """Return the processor time of a process, in s."""
    times = process.cpu_times()
    return times.user + times.system


def watch(
    gateway: psutil.Process, client: Client, port: int, count: int, stuck: int, seconds: float
) -> tuple[float, float, int, float, float]:
    """Return slowest and fastest rate, bytes, share of a core, and real-time factor."""
    spectators = [Spectator(port) for _ in range(count)]
    hung = [Spectator(port) for _ in range(stuck)]
    selector = selectors.DefaultSelector()
    for spectator in spectators:
        selector.register(spectator.link, selectors.EVENT_READ, spectator)

    def receive(until: float) -> None:
        while (left := until - time.monotonic()) > 0:
            for key, _ in selector.select(left):
                key.data.read()

    receive(time.monotonic() + 1.5)  # meshes have been sent, and the stuck one is full
    before = [spectator.messages for spectator in spectators]
    began, used, simulated = time.monotonic(), cpu_of(gateway), client.status().sim_time_ns
    receive(began + seconds)
    passed = time.monotonic() - began
    used = (cpu_of(gateway) - used) / passed
    factor = (client.status().sim_time_ns - simulated) * 1e-9 / passed
    rates = [
        (spectator.messages - first) / passed
        for spectator, first in zip(spectators, before, strict=True)
    ]
    for spectator in (*spectators, *hung):
        spectator.link.close()
    return min(rates), max(rates), spectators[0].size, used, factor


@contextmanager
def waving(client: Client, amplitude: float = 0.1) -> Iterator[None]:
    """Lead all actuators along sines around where they are (rad, m)."""
    over = threading.Event()
    robots = client.step().articulations
    middles = {
        prefix: {
            actuator.name: float(robots[prefix].ctrl[actuator.index])
            for actuator in read_robot(client.handshake, prefix).actuators.values()
        }
        for prefix in robots
    }

    def wave() -> None:
        while not over.wait(1 / 30):
            move = amplitude * math.sin(2 * math.pi * 0.5 * time.monotonic())
            for prefix, middle in middles.items():
                client.set_setpoints(prefix, {name: at + move for name, at in middle.items()})

    thread = threading.Thread(target=wave)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def first_pictures(url: str, count: int = 5) -> list[tuple[float, float]]:
    """Return the seconds from the request to the first picture and to all, of so many visits."""
    chromium = shutil.which('chromium') or shutil.which('chromium-browser')
    if chromium is None or importlib.util.find_spec('playwright') is None:
        return []
    from playwright.sync_api import sync_playwright

    found = []
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=chromium, args=SOFTWARE)
        for _ in range(count):
            tab = browser.new_page(viewport={'width': 1280, 'height': 800})
            tab.goto(url, wait_until='commit')
            while not tab.evaluate('() => Boolean(window.urlab?.isReady)'):
                tab.wait_for_timeout(100)
            found.append(tuple(tab.evaluate(MARKS)))
            tab.close()
        browser.close()
    return found


def serve_naively(rpc: int) -> None:
    """Serve as the gateway does, but turn each state into JSON for each client anew."""
    from urlab_ros_bridge.gateways.virtual_field.serving.client import WebXrClient
    from urlab_ros_bridge.gateways.virtual_field.serving.server import WebXrConfig
    from urlab_ros_bridge.gateways.virtual_field.serving.server import WebXrServer

    def send_state(self: Any, state: Any) -> None:
        message = {'version': 1, 'type': 'scene_state', 'payload': state.payload}
        self.connection.send(json.dumps(message, default=plain).encode(), text=True)
        self.sent += 1

    WebXrClient._send_state = send_state  # type: ignore[method-assign]
    server = WebXrServer(WebXrConfig(rpc_port=rpc, port=0))
    server.start()
    print(server.url, flush=True)
    threading.Event().wait()


def plain(value: Any) -> Any:
    """Return an array as lists, and prepared JSON as plain values."""
    return value.tolist() if hasattr(value, 'tolist') else orjson.loads(orjson.dumps(value))


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument('--world', default='bimanual')
    parser.add_argument('--seconds', type=float, default=5.0)
    parser.add_argument('--page', action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument('--serve-naively', type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve_naively:
        serve_naively(options.serve_naively)
        return
    words = [f'--{name}-port=0' for name in PORTS]
    server = [*PROGRAM, 'server', f'--world={options.world}', *words, '--log-level=error']
    with program(server) as (_, line):
        rpc = int(re.search(r'rpc=tcp://[^:]+:(\d+)', line)[1])  # type: ignore[index]
        ours = [*PROGRAM, 'webxr', f'--rpc-port={rpc}', '--port=0', '--log-level=error']
        naive = [sys.executable, __file__, f'--serve-naively={rpc}']
        print(f'{options.world}: spectators, Hz each, bytes, CPU, ms a message, real-time factor')
        costs = {}
        slowest, least = math.inf, math.inf
        for name, command, runs in (
            ('gateway', ours, ((1, 0, 0), (8, 0, 0), (8, 1, 0), (8, 0, 1))),
            ('naive', naive, ((1, 0, 0), (8, 0, 0), (8, 0, 1))),
        ):
            with program(command) as (gateway, line), Client(rpc_port=rpc, shared=True) as client:
                port = int(re.search(r'http://[^:]+:(\d+)', line)[1])  # type: ignore[index]
                client.connect()
                for count, stuck, moves in runs:
                    client.reset()  # each run sees the same
                    with waving(client) if moves else nullcontext():
                        low, high, size, share, factor = watch(
                            gateway, client, port, count, stuck, options.seconds
                        )
                    if name == 'gateway':
                        slowest, least = min(slowest, low), min(least, factor)
                    # A busy machine sends fewer messages, so the cost of one is compared.
                    each = share / ((low + high) / 2 * count) * 1e3
                    if not stuck:
                        costs[name, count, moves] = each
                    what = f'{name}, {count}' + (' and one that never reads' if stuck else '')
                    what += ', arms wave' if moves else ''
                    rates = f'{low:5.1f}-{high:5.1f}'
                    print(f'{what:36} {rates} {size:6d} {share:6.1%} {each:6.3f} {factor:6.3f}')
        still, waved = (costs['gateway', 8, moves] / costs['naive', 8, moves] for moves in (0, 1))
        print(f'CPU of a message at 8, gateway / naive: {still:.2f}')
        print(f'the same while the arms wave: {waved:.2f}')
        verdict = 'reached' if slowest >= GOAL and least >= FACTOR else 'MISSED'
        print(f'goal: {GOAL:g} Hz for each at a real-time factor of {FACTOR:g}: {verdict}')
        if not options.page:
            return
        with program(ours) as (_, line):
            seconds = first_pictures(re.search(r'http://\S+', line)[0])  # type: ignore[index]
        if seconds:
            first, complete = (sorted(column) for column in zip(*seconds, strict=True))
            shown = ', '.join(f'{one:.2f}' for one in first)
            print(f'first picture: {statistics.median(first):.2f} s (goal: {FIRST} s; {shown})')
            print(f'complete: {statistics.median(complete):.2f} s')


if __name__ == '__main__':
    main()
