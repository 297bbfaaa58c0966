# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Faults, one after the other, while clients of every protocol go on: ``make soak``.

One server with its gateways runs under clients that are connected directly, and others behind a
proxy that harms their connections.  After each fault everybody must get data again; the log of all
that the clients saw is then held against the invariants.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from collections.abc import Iterator
import contextlib
from dataclasses import dataclass
from dataclasses import field
import json
from pathlib import Path
import random
import resource
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

from fault_proxy import FaultProxy
from fault_proxy import KINDS
from lifelines import start_process
import msgpack
from programs_under_fault import Load
from programs_under_fault import Programs
from watchers import chiral_viewer
from watchers import Log
from watchers import simspark_monitor
from watchers import stall
from watchers import urlab_requests
from watchers import urlab_states
from watchers import Watcher
from watchers import webxr_spectator

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.client.errors import RemoteError
from urlab_ros_bridge.wire.recording import decode

HERE = Path(__file__).resolve().parent
PATIENCE = 60.0  # s for recovery, on a machine that others load as well
SLOPE_MB_AN_HOUR = 60.0  # what a program may grow by, once it has done everything
JUDGED = 0.4  # hours of a run from which on memory is judged
SETTLED = 0.5  # part of the run after which memory is judged
TIGHT = 4096  # bytes that a file may have when the disk is full
PROXIED = ('rpc', 'state', 'chiral', 'webxr', 'monitors')
# Faults of connections that change no data; the others are no faults of TCP.
HONEST = ('delay', 'cut')


@dataclass
class Result:
    """What became of one fault."""

    name: str
    recovered: float = 0.0
    problems: list[str] = field(default_factory=list)


class Soak:
    """The programs, the clients, and the faults."""

    def __init__(self, folder: Path, seed: int, window: float, *, everything: bool = True) -> None:
        self.everything = everything
        self.random, self.window = random.Random(seed), window
        self.log, self.results = Log(), []
        self.programs = Programs(folder, 'rover')
        self.loads: dict[str, list[tuple[float, Load]]] = {}
        self.saved: dict[Path, int] = {}
        for name in Programs.NAMES:
            self.programs.start(name)
        ports = self.programs.ports
        self.proxies = {
            name: FaultProxy(ports[name], seed + number) for number, name in enumerate(PROXIED)
        }
        makers: dict[str, Callable[[int], Iterator]] = {
            'rpc': lambda port: urlab_requests(port, self.log),
            'state': lambda port: urlab_states(port, lambda: self.programs.lives['server']),
            'chiral': chiral_viewer,
            'webxr': webxr_spectator,
            'monitors': simspark_monitor,
        }
        self.watchers = [
            Watcher(f'{name} {way}', self.log, lambda make=make, port=port: make(port))
            for name, make in makers.items()
            for way, port in (('direct', ports[name]), ('proxied', self.proxies[name].port))
        ]
        for watcher in self.watchers:
            watcher.start()
        self.began = time.monotonic()

    def client(self, **options: object) -> Client:
        """Return a client of the server, to be closed."""
        port = self.programs.ports['rpc']
        return Client(rpc_port=port, shared=True, timeout=20.0, **options)  # type: ignore[arg-type]

    def sample(self) -> None:
        """Note what each program holds."""
        for name in Programs.NAMES:
            if self.programs.is_alive(name):
                now = time.monotonic() - self.began
                self.loads.setdefault(name, []).append((now, self.programs.load(name)))

    def close(self) -> dict[str, int]:
        """End everything; return the exit codes."""
        for watcher in self.watchers:
            watcher.stop()
        for proxy in self.proxies.values():
            proxy.close()
        return self.programs.stop()

    def do(
        self, name: str, fault: Callable[[Soak], None], waits_for: tuple[str, ...] = ()
    ) -> None:
        """Let a fault happen, and wait until all clients have data again."""
        result = Result(name)
        self.results.append(result)
        print(f'{time.monotonic() - self.began:7.1f} s  {name:42}', end='', flush=True)
        try:
            fault(self)
        except AssertionError as error:
            result.problems.append(str(error)[:300])
        over = time.monotonic()
        for watcher in self.watchers:
            while watcher.newest <= over:
                if time.monotonic() > over + PATIENCE:
                    result.problems.append(f'{watcher.name} gets nothing: {watcher.trouble}')
                    break
                time.sleep(0.01)
        result.recovered = time.monotonic() - over
        for program in Programs.NAMES:
            if not self.programs.is_alive(program):
                result.problems.append(f'{program} has ended: {self.programs.log(program)[-500:]}')
                self.programs.start(program)
        self.sample()
        print(f'recovered in {result.recovered:5.2f} s  {"; ".join(result.problems)}', flush=True)

    def harm(self, protocol: str, kind: str) -> None:
        """Let a proxy harm what it relays for a while."""
        proxy = self.proxies[protocol]
        proxy.fault = kind
        self.log.add('faults', begins=kind, protocol=protocol)
        time.sleep(self.window)
        proxy.fault = ''
        if kind != 'delay':
            proxy.cut()  # nobody can tell any more what belongs together
        self.log.add('faults', ends=kind, protocol=protocol)

    def kill(self, name: str) -> None:
        """kill -9, and a new start a moment later."""
        self.programs.kill(name)
        time.sleep(0.3)
        self.programs.start(name)

    def freeze(self, name: str) -> None:
        """SIGSTOP, and SIGCONT later."""
        self.programs.signal(name, signal.SIGSTOP)
        time.sleep(self.window)
        self.programs.signal(name, signal.SIGCONT)

    def stalled_readers(self) -> None:
        """Everybody has clients that ask and never read; the others must not notice."""
        ports = self.programs.ports
        greeting = b'\xff' + bytes(8) + b'\x7f\x03\x00NULL' + bytes(48)
        ready = b'\x04\x19\x05READY\x0bSocket-Type\x00\x00\x00\x03REQ'
        subscribe = b'\x04\x19\x05READY\x0bSocket-Type\x00\x00\x00\x03SUB' + b'\x00\x01\x01'
        meta = msgpack.packb({'op': 'meta'})
        request = b'\x01\x00' + bytes((0, len(meta))) + meta
        opening = (
            b'GET /view HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade'
            b'\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n'
        )
        packed = msgpack.packb({'type': 'obs_request'})
        packed = struct.pack('<I', len(packed)) + packed
        ask = bytes((0x82, 0x80 | len(packed))) + bytes(4) + packed
        hello = json.dumps(
            {'version': 1, 'type': 'hello', 'payload': {'role': 'spectator'}}
        ).encode()
        field_hello = bytes((0x81, 0x80 | len(hello))) + bytes(4) + hello
        links = [
            *stall(ports['rpc'], greeting + ready, request),
            *stall(ports['state'], greeting + subscribe),
            *stall(ports['chiral'], opening, ask),
            *stall(ports['webxr'], opening.replace(b'/view', b'/') + field_hello),
            *stall(ports['monitors'], b'', b'\x00\x00\x00\x0e(reqfullstate)'),
        ]
        before = time.monotonic()
        time.sleep(self.window)
        for watcher in self.watchers:
            assert watcher.newest > before, f'{watcher.name} got nothing while others did not read'
        for link in links:
            link.close()

    def many_connections(self, count: int) -> None:
        """Very many connections that say nothing, and then go."""
        links = []
        try:
            for _ in range(count):
                link = socket.socket()
                link.settimeout(2.0)
                try:
                    link.connect(('127.0.0.1', self.programs.ports['rpc']))
                except OSError:
                    link.close()
                    break
                links.append(link)
            with self.client() as client:
                assert client.status()
            self.log.add('faults', connections=len(links))
        finally:
            for link in links:
                link.close()

    def record(self, name: str, *, fails: bool = False) -> None:
        """Record for a moment and save; what was acknowledged must be there from now on."""
        with self.client() as client:
            with contextlib.suppress(RemoteError):
                client.recording_stop()
            client.recording_start(name)
            time.sleep(0.2)
            frames = client.recording_stop().frame_count
            code, path = '', Path()
            try:
                path = Path(client.recording_save())
            except RemoteError as error:
                code = error.code
            assert code == ('path_not_writable' if fails else ''), f'saving: {code!r}'
            if not fails:
                self.saved[path] = frames

    def full_disk(self) -> None:
        """No file may grow beyond a few kilobytes: the write fails, and nothing else does."""
        pid = self.programs.pid('server')
        limits = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (TIGHT, limits[1]))
        try:
            self.record('full', fails=True)
        finally:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)
        parts = [path.name for path in self.programs.data.rglob('*.part')]
        assert not parts, f'left behind: {parts}'
        self.record('after')

    def unwritable(self) -> None:
        """A file stands where the folder of recordings should be."""
        folder = self.programs.data / 'Replays'
        moved = folder.with_name('Replays_away')
        folder.rename(moved) if folder.exists() else None
        folder.write_text('in the way')
        try:
            self.record('unwritable', fails=True)
        finally:
            folder.unlink()
            if moved.exists():
                moved.rename(folder)

    def clock_jumps(self) -> None:
        """The wall clock of all programs goes an hour ahead, and then two back."""
        for jump in (3600.0, -3600.0, 0.0):
            with self.programs.clock.open('r+b') as file:
                file.write(struct.pack('<d', jump))
            time.sleep(self.window / 2)

    def second_on_the_ports(self) -> None:
        """The same programs again on the same ports: they end with an error and change nothing."""
        for name in Programs.NAMES if self.everything else ('server',):
            second = self.programs.spawn(name)
            with second.stdout:
                code = second.wait(PATIENCE)
            assert code in (1, 2), f'a second {name} ended with {code}'

    def commander_dies(self) -> None:
        """Who drives a robot is killed; the robot comes to a stand, and stays there."""
        words = [sys.executable, HERE / 'commander.py', str(self.programs.ports['rpc'])]
        driver = start_process(words, stdout=subprocess.PIPE, text=True)
        with self.client(observations='full') as client, driver.stdout:
            driver.stdout.readline()
            self._until(client, lambda speed: speed > 0.1, 'the rover does not drive')
            driver.kill()
            driver.wait()
            self._until(client, lambda speed: speed < 0.01, 'the rover drives without a driver')
            before = client.forward().articulations['rover'].qpos[:2].copy()
            time.sleep(self.window)
            after = client.forward().articulations['rover'].qpos[:2]
            assert abs(after - before).max() < 0.01, f'the rover moved from {before} to {after}'

    def _until(self, client: Client, wanted: Callable[[float], bool], why: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            qvel = client.forward().articulations['rover'].qvel
            if wanted(float((qvel[:2] ** 2).sum() ** 0.5)):
                return
            time.sleep(0.05)
        raise AssertionError(why)

    def faults(self, connections: int) -> list[tuple[str, Callable]]:
        """Return the matrix; without `everything` one of each kind."""
        everything = self.everything
        found: list[tuple[str, Callable[[Soak], None]]] = []
        for number, protocol in enumerate(PROXIED):
            for kind in KINDS if everything else (KINDS[-1 - number],):
                name = f'{kind} on the way to {protocol}'
                found.append((name, lambda soak, p=protocol, k=kind: soak.harm(p, k)))
        for program in Programs.NAMES if everything else ('server',):
            found.append((f'kill -9 of {program}', lambda soak, p=program: soak.kill(p)))
        for program in Programs.NAMES if everything else ('server',):
            found.append((f'SIGSTOP of {program}', lambda soak, p=program: soak.freeze(p)))
        return [
            *found,
            ('clients that never read', Soak.stalled_readers),
            (f'{connections:,} connections', lambda soak: soak.many_connections(connections)),
            ('disk full while saving', Soak.full_disk),
            ('folder that cannot be written', Soak.unwritable),
            ('wall clock jumps', Soak.clock_jumps),
            ('the same programs on the same ports', Soak.second_on_the_ports),
            ('the commander is killed', Soak.commander_dies),
        ]


def broken_invariants(soak: Soak, codes: dict[str, int]) -> list[str]:
    """Return what the log and the files say against the suite."""
    found = [f'{result.name}: {problem}' for result in soak.results for problem in result.problems]
    newest: dict[tuple, float] = {}
    harmed = _harmed(soak.log)
    for row in soak.log.rows():
        if 'wrong' in row:
            found.append(f'not one reply a request: {row["wrong"]}')
        if 'time' not in row:
            continue
        key = (row['who'], row['epoch'])
        if row['time'] < newest.get(key, row['time']) and not harmed(row):
            found.append(f'{row["who"]}: time went back from {newest[key]} to {row["time"]}')
        newest[key] = row['time']
    for path, frames in soak.saved.items():
        with contextlib.suppress(Exception):
            if len(decode([path.read_text()])) == frames:
                continue
        found.append(f'{path} was acknowledged with {frames} frames and is not there')
    for name, code in codes.items():
        if code:
            found.append(f'{name} ended with {code}')
        if 'Traceback' in soak.programs.log(name):
            text = soak.programs.log(name)
            found.append(f'{name} logged: {text[text.index("Traceback") :][:1500]}')
    return found


def _harmed(log: Log) -> Callable[[dict], bool]:
    """Return whether a row came while what the client got was no longer what was sent."""
    spans: list[tuple[str, float, float]] = []
    for row in log.rows('faults'):
        if row.get('begins') and row['begins'] not in HONEST:
            spans.append((row['protocol'], row['at'], float('inf')))
        elif row.get('ends') and row['ends'] not in HONEST:
            protocol, begin, _ = spans.pop()
            spans.append((protocol, begin, row['at'] + 1.0))
    return lambda row: any(
        row['who'] == f'{protocol} proxied' and begin <= row['at'] <= end
        for protocol, begin, end in spans
    )


def slopes(soak: Soak) -> dict[str, tuple[float, float, Load, Load]]:
    """Return memory (MB an hour, and MB) of each program's last life, with first and last load."""
    found = {}
    for name, rows in soak.loads.items():
        judged = rows[int(len(rows) * SETTLED) :] or rows
        (t0, first), (t1, last) = judged[0], judged[-1]
        hours = max(t1 - t0, 1e-9) / 3600
        growth = last.memory_mb - first.memory_mb
        found[name] = (growth / hours, growth, first, last)
    return found


def main() -> int:
    """Run rounds of the matrix, and print what became of each fault."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').strip().splitlines()[0])
    parser.add_argument('--minutes', type=float, default=30.0)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--window', type=float, default=2.0, help='how long a fault lasts (s)')
    parser.add_argument('--short', action='store_true', help='one of each kind, once')
    parser.add_argument('--connections', type=int, default=10_000)
    options = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    count = min(options.connections, hard - 1000)
    with tempfile.TemporaryDirectory(prefix='urlab-soak-') as folder:
        soak = Soak(Path(folder), options.seed, options.window, everything=not options.short)
        codes: dict[str, int] = {}
        rounds = 0
        try:
            while not rounds or time.monotonic() - soak.began < options.minutes * 60:
                matrix = soak.faults(count)
                if rounds:
                    soak.random.shuffle(matrix)
                for name, fault in matrix:
                    soak.do(name, fault)
                rounds += 1
                if options.short:
                    break
        finally:
            codes = soak.close()
        hours = (time.monotonic() - soak.began) / 3600
        broken = broken_invariants(soak, codes)
        rows = soak.log.rows()
        print(
            f'\n{rounds} rounds in {hours:.2f} h, {len(soak.results)} faults, {len(rows):,} rows'
        )
        table(soak.results)
        for name, (slope, growth, first, last) in slopes(soak).items():
            print(
                f'{name:10} {first.memory_mb:6.0f} -> {last.memory_mb:6.0f} MB'
                f'{f" ({slope:+.0f} MB/h)" if hours > JUDGED else ""}, '
                f'{first.descriptors} -> {last.descriptors} files, '
                f'{first.threads} -> {last.threads} threads'
            )
            if hours > JUDGED and slope > SLOPE_MB_AN_HOUR and growth > 15:
                broken.append(f'{name} grows by {slope:.0f} MB an hour')
    print(*(f'BROKEN: {line}' for line in broken), sep='\n')
    print('an invariant is broken' if broken else 'all invariants hold')
    return int(bool(broken))


def table(results: list[Result]) -> None:
    """Print the time to recover from each fault: median and worst."""
    times: dict[str, list[float]] = {}
    for result in results:
        times.setdefault(result.name, []).append(result.recovered)
    print(f'| {"fault":42} | times | median s | worst s |\n|---|---|---|---|')
    for name, values in times.items():
        values.sort()
        middle = values[len(values) // 2]
        print(f'| {name:42} | {len(values):5} | {middle:8.2f} | {values[-1]:7.2f} |')


if __name__ == '__main__':
    sys.exit(main())
