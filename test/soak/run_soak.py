# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Faults, one after the other, under clients of every protocol: ``make soak``.

One server with its gateways runs under clients that are connected directly, and others behind a
proxy that harms their connections.  After each fault everybody must get data again; the log of all
that the clients saw is then held against the invariants.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import functools
import importlib.util
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
from programs_under_fault import load_of
from programs_under_fault import Programs
import raw_peer
import raw_zmtp
import renderer_faults
from verdict import broken_invariants
from verdict import growing
from verdict import Loads
from verdict import Result
from watchers import AGENT_SCENE
from watchers import camera_images
from watchers import chiral_viewer
from watchers import Log
from watchers import simspark_agent
from watchers import simspark_monitor
from watchers import stall
from watchers import urlab_requests
from watchers import urlab_states
from watchers import Watcher
from watchers import webxr_spectator

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.client.errors import RemoteError
from urlab_ros_bridge.sim.cameras.renderer import environment

HERE = Path(__file__).resolve().parent
PATIENCE = 60.0  # s for recovery, on a machine that others load as well
TIGHT = 4096  # bytes that a file may have when the disk is full
PROXIED = ('rpc', 'state', 'chiral', 'webxr', 'monitors', 'agents')
PIECE = 1 << 16  # bytes of a image that a proxy relays at a time
SILENT = 500  # connections to each port but that of requests


class Soak:
    """
    The programs, the clients, and the faults.

    :ivar ros: a node in the domain of the bridge, None without one.
    :ivar ended: when the present fault ended (monotonic s), if it waits for the recovery itself.
    :ivar saved: recordings that were acknowledged, with their frames; `bags` likewise, with files
        and messages.
    """

    def __init__(self, folder: Path, seed: int, window: float, *, everything: bool = True) -> None:
        self.everything = everything
        self.random, self.window = random.Random(seed), window
        self.log, self.results = Log(), []
        has_ros = everything and importlib.util.find_spec('rclpy') is not None
        names = Programs.NAMES if has_ros else Programs.NAMES[:-1]
        self.has_cameras = not all(map(environment.missing_library, environment.BACKENDS))
        self.programs = Programs(folder, 'rover', names)
        self.loads: Loads = {}
        self.saved: dict[Path, int] = {}
        self.bags: dict[Path, tuple[list[str], int]] = {}
        self.bags_begun, self.ended = 0, 0.0
        for name in self.programs.names:
            self.programs.start(name)
        self.proxies = self._proxies(seed)
        self.watchers = self._watchers()
        self.ros = None
        if self.programs.domain is not None:
            from ros_watchers import RosFace

            self.ros = RosFace(
                self.programs.domain, functools.partial(self.programs.life_at, 'server')
            )
            self.watchers += [
                Watcher(name, self.log, session, lasting=True)
                for name, session in self.ros.sessions().items()
            ]
        for watcher in self.watchers:
            watcher.start()
        self.began = time.monotonic()

    def _proxies(self, seed: int) -> dict[str, FaultProxy]:
        ports = self.programs.ports
        proxies = {
            name: FaultProxy(ports[name], seed + number) for number, name in enumerate(PROXIED)
        }
        if self.everything and self.has_cameras:
            proxies['camera'] = FaultProxy(ports['camera'], seed + len(PROXIED), piece=PIECE)
        return proxies

    def _watchers(self) -> list[Watcher]:
        """Return clients of every protocol, each connected directly and through its proxy."""
        ports, life = self.programs.ports, lambda: self.programs.lives['server']
        makers: dict[str, Callable[[int], Iterator]] = {
            'rpc': lambda port: urlab_requests(port, self.log),
            'state': lambda port: urlab_states(port, life),
            'chiral': chiral_viewer,
            'webxr': webxr_spectator,
            'monitors': simspark_monitor,
            'agents': simspark_agent,
        }
        watchers = [
            Watcher(f'{name} {way}', self.log, lambda make=make, port=port: make(port))
            for name, make in makers.items()
            for way, port in (('direct', ports[name]), ('proxied', self.proxies[name].port))
        ]
        if 'camera' in self.proxies:
            for way, proxy in (('direct', None), ('proxied', self.proxies['camera'])):
                watchers.append(
                    Watcher(
                        f'camera {way}',
                        self.log,
                        lambda proxy=proxy: camera_images(ports['rpc'], life, proxy),
                    )
                )
        return watchers

    def client(self, **options: object) -> Client:
        """Return a client of the server, to be closed."""
        port = self.programs.ports['rpc']
        return Client(rpc_port=port, shared=True, timeout=20.0, **options)  # type: ignore[arg-type]

    def sample(self) -> None:
        """Note what each program holds, by name and process: another life begins anew."""
        pids = {name: self.programs.pid(name) for name in self.programs.names}
        renderer = self.programs.renderer()
        for name, pid in (pids | ({'renderer': renderer} if renderer else {})).items():
            with contextlib.suppress(OSError, KeyError):  # it has just ended
                row = (time.monotonic() - self.began, load_of(pid))
                self.loads.setdefault((name, pid), []).append(row)

    def close(self) -> dict[str, int]:
        """End everything; return the exit codes."""
        for watcher in self.watchers:
            watcher.stop()
        for proxy in self.proxies.values():
            proxy.close()
        codes = self.programs.stop()
        if self.ros is not None:
            self.ros.close()
        return codes

    def wait_for(self, name: str) -> None:
        """Wait until a client has something new."""
        (watcher,) = [watcher for watcher in self.watchers if watcher.name == name]
        over = time.monotonic()
        while watcher.newest <= over:
            assert time.monotonic() < over + PATIENCE, f'{name} gets nothing: {watcher.trouble}'
            time.sleep(0.01)

    def do(self, name: str, fault: Callable[[Soak], None]) -> None:
        """Let a fault happen, and wait until all clients have data again."""
        result = Result(name)
        self.results.append(result)
        print(f'{time.monotonic() - self.began:7.1f} s  {name:42}', end='', flush=True)
        self.ended = 0.0
        try:
            fault(self)
        except Exception as error:  # the other faults are still to be tried
            result.problems.append(f'{type(error).__name__}: {error}'[:300])
        over = time.monotonic()
        for watcher in self.watchers:
            while watcher.newest <= over:
                if time.monotonic() > over + PATIENCE:
                    result.problems.append(f'{watcher.name} gets nothing: {watcher.trouble}')
                    break
                time.sleep(0.01)
        result.recovered = time.monotonic() - (self.ended or over)
        for program in self.programs.names:
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
        """
        Everybody has clients that ask and never read; the others must not notice.

        Nor those that never finish a request, or speak HTTP to a port of ZeroMQ.
        """
        ports = self.programs.ports
        requester = raw_zmtp.GREETING + raw_zmtp.ready('REQ')
        subscriber = raw_zmtp.GREETING + raw_zmtp.ready('SUB') + raw_zmtp.frame(b'\x01')
        separator = raw_zmtp.frame(b'', raw_zmtp.MORE)
        meta = separator + raw_zmtp.frame(msgpack.packb({'op': 'meta'}))
        half = separator + raw_zmtp.frame(bytes(1 << 20))[: 1 << 19]
        packed = msgpack.packb({'type': 'obs_request'})
        ask = raw_peer.frame(struct.pack('<I', len(packed)) + packed)
        hello = b'{"version": 1, "type": "hello", "payload": {"role": "spectator"}}'
        page = b'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n' + bytes(1000)
        links = [
            *stall(ports['rpc'], requester, meta),
            *stall(ports['rpc'], requester + half),
            *stall(ports['rpc'], page),
            *stall(ports['state'], page),
            *stall(ports['state'], subscriber),
            *stall(ports['chiral'], raw_peer.opening('/view'), ask),
            *stall(ports['webxr'], raw_peer.opening() + raw_peer.frame(hello, 0x81)),
            *stall(ports['monitors'], b'', b'\x00\x00\x00\x0e(reqfullstate)'),
            *stall(ports['agents'], AGENT_SCENE),
        ]
        if 'camera' in self.proxies:
            links += stall(self.proxies['camera'].target, subscriber)
        time.sleep(self.window)  # what is not read fills the buffers
        filled = time.monotonic()
        for watcher in self.watchers:
            while watcher.newest <= filled:
                why = f'{watcher.name} got nothing while others did not read'
                assert time.monotonic() < filled + PATIENCE, why
                time.sleep(0.01)
        for link in links:
            link.close()

    def many_connections(self, count: int) -> None:
        """Very many connections that say nothing, and then go."""
        ports = self.programs.ports
        links = connections(ports['rpc'], count)
        try:
            for name in PROXIED[1:]:
                links += connections(ports[name], min(SILENT, count // 20))
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
        for name in self.programs.names if self.everything else ('server',):
            second = self.programs.spawn(name)
            with second.stdout:
                try:
                    code = second.wait(PATIENCE)
                except subprocess.TimeoutExpired:
                    second.kill()  # or it does what the first one is asked to
                    second.wait()
                    raise AssertionError(f'a second {name} goes on') from None
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

    def faults(self, connections: int, deadly: bool = True) -> list[tuple[str, Callable]]:
        """
        Return the matrix; without `everything` one of each kind.

        :param deadly: also faults that end a program: what lives long shows its leaks.
        """
        everything, proxied = self.everything, list(self.proxies)
        found: list[tuple[str, Callable[[Soak], None]]] = []
        for number, protocol in enumerate(proxied):
            for kind in KINDS if everything else (KINDS[-1 - number],):
                name = f'{kind} on the way to {protocol}'
                found.append((name, lambda soak, p=protocol, k=kind: soak.harm(p, k)))
        programs = self.programs.names if everything else ('server',)
        if deadly:
            for program in programs:
                found.append((f'kill -9 of {program}', lambda soak, p=program: soak.kill(p)))
        for program in programs:
            found.append((f'SIGSTOP of {program}', lambda soak, p=program: soak.freeze(p)))
        return [
            *found,
            *self._further_faults(deadly),
            ('clients that never read', Soak.stalled_readers),
            (f'{connections:,} connections', lambda soak: soak.many_connections(connections)),
            ('disk full while saving', Soak.full_disk),
            ('folder that cannot be written', Soak.unwritable),
            ('wall clock jumps', Soak.clock_jumps),
            ('the same programs on the same ports', Soak.second_on_the_ports),
            ('the commander is killed', Soak.commander_dies),
        ]

    def _further_faults(self, deadly: bool) -> list[tuple[str, Callable]]:
        """Return those of the renderer and of bags."""
        rooms = [renderer_faults] if self.everything and self.has_cameras else []
        if self.ros is not None:
            import bag_faults

            rooms.append(bag_faults)
        return [
            row
            for room in rooms
            for row in room.FAULTS.items()
            if deadly or row[1] not in room.DEADLY
        ]


def connections(port: int, count: int) -> list[socket.socket]:
    """Return connections that say nothing; fewer when no more are taken."""
    links = []
    for _ in range(count):
        link = socket.socket()
        link.settimeout(2.0)
        try:
            link.connect(('127.0.0.1', port))
        except OSError:
            link.close()
            break
        links.append(link)
    return links


def main() -> int:
    """Run rounds of the matrix, and print what became of each fault."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').strip().splitlines()[0])
    parser.add_argument('--minutes', type=float, default=30.0)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--window', type=float, default=2.0, help='how long a fault lasts (s)')
    parser.add_argument('--short', action='store_true', help='one of each kind, once')
    parser.add_argument('--only', nargs='*', default=[], help='faults with one of these words')
    parser.add_argument('--connections', type=int, default=10_000)
    options = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    count = min(options.connections, hard - 4000)
    with tempfile.TemporaryDirectory(prefix='urlab-soak-') as folder:
        soak = Soak(Path(folder), options.seed, options.window, everything=not options.short)
        codes: dict[str, int] = {}
        rounds = 0
        broken: list[str] = []
        try:
            while not rounds or time.monotonic() - soak.began < options.minutes * 60:
                # What ends a program comes first: from then on all programs live on.
                matrix = soak.faults(count, deadly=not rounds)
                if rounds:
                    soak.random.shuffle(matrix)
                for name, fault in matrix:
                    if not options.only or any(word in name for word in options.only):
                        soak.do(name, fault)
                    if rounds and time.monotonic() - soak.began > options.minutes * 60:
                        break
                rounds += 1
                if options.short or options.only:
                    break
        except KeyboardInterrupt:
            print('\ninterrupted: what was seen until now')
        except Exception as error:  # what was seen until now is still to be judged
            broken.append(f'the run ended early: {type(error).__name__}: {error}'[:2000])
        finally:
            codes = soak.close()
        broken += broken_invariants(soak, codes)
        broken += growing(soak.loads)
    print(*(f'BROKEN: {line}' for line in broken), sep='\n')
    print('an invariant is broken' if broken else 'all invariants hold')
    return int(bool(broken))


if __name__ == '__main__':
    sys.exit(main())
