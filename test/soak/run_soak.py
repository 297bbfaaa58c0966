# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Faults, one after the other, under clients of every protocol: ``make soak``.

One server with its gateways runs under clients that are connected directly, and others behind a
proxy that harms their connections.  After each fault everybody must get data again; what the
clients saw, the files and the memory of the programs are judged at the end.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
import contextlib
import functools
import importlib.util
import itertools
from pathlib import Path
import random
import resource
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

from fault_proxy import FaultProxy
from fault_proxy import KINDS
from lifelines import start_process
from programs_under_fault import Programs
import psutil
import renderer_faults
from waiting import wait_until
import watchers
from watchers import Watcher

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.client.errors import RemoteError
from urlab_ros_bridge.sim.cameras.renderer import environment
from urlab_ros_bridge.wire.recording import decode

HERE = Path(__file__).resolve().parent
PATIENCE = 60.0  # s for recovery, on a machine that others load as well
TIGHT = 4096  # bytes that a file may have when the disk is full
PROXIED = ('state', 'chiral', 'webxr', 'monitors', 'agents', 'rpc', 'camera')
SLOPE_MB_AN_HOUR = 60.0  # what a program may grow by, once it has done everything
GROWTH_MB = 15.0  # and so much at least
JUDGED = 0.15  # hours of the second half of a life from which on its memory is judged

Fault = Callable[['Soak'], None]


class Soak:
    """
    The programs, the clients, and the faults.

    :param short: one fault of a kind, without bridge and cameras.
    :ivar window: how long a fault lasts, s.
    :ivar ros: a node in the domain of the bridge, None without one.
    :ivar broken: what was against the invariants.
    :ivar loads: by name and process: (h since the begin, MB of memory).
    :ivar saved: recordings that were acknowledged, with their frames; `bags` likewise, with files
        and messages.
    """

    def __init__(self, folder: Path, seed: int, short: bool) -> None:
        self.short, self.window = short, 0.5 if short else 2.0
        has_ros = not short and importlib.util.find_spec('rclpy') is not None
        self.programs = Programs(
            folder, 'rover', Programs.NAMES if has_ros else Programs.NAMES[:-1]
        )
        self.broken: list[str] = []
        self.loads: dict[tuple[str, int], list[tuple[float, float]]] = {}
        self.saved: dict[Path, int] = {}
        self.bags: dict[Path, tuple[list[str], int]] = {}
        self.bags_begun = 0
        for name in self.programs.names:
            self.programs.start(name)
        self._proxy_and_watch(seed)
        self.ros = None
        if has_ros:
            from ros_watchers import RosFace

            self.ros = RosFace(self.programs.domain)
            self.watchers += self.ros.watchers
        for watcher in self.watchers:
            watcher.start()
        self.began = time.monotonic()

    def _proxy_and_watch(self, seed: int) -> None:
        """Make clients of every protocol, each connected directly and through a proxy."""
        ports = self.programs.ports
        has_cameras = not all(map(environment.missing_library, environment.BACKENDS))
        names = PROXIED if has_cameras and not self.short else PROXIED[:-1]
        self.proxies = {name: FaultProxy(ports[name], seed + i) for i, name in enumerate(names)}
        sessions: dict[str, Callable] = {
            'rpc': watchers.urlab_requests,
            'state': functools.partial(watchers.urlab_states, life=self.life),
            'chiral': watchers.chiral_viewer,
            'webxr': watchers.webxr_spectator,
            'monitors': watchers.simspark_monitor,
            'agents': watchers.simspark_agent,
            'camera': functools.partial(
                watchers.camera_images, ports['rpc'], self.life, self.proxies.get('camera')
            ),
        }
        self.watchers = [
            Watcher(f'{name} {way}', functools.partial(sessions[name], port), through)
            for name, proxy in self.proxies.items()
            for way, port, through in (
                ('direct', ports[name], None),
                ('proxied', proxy.port, proxy),
            )
        ]

    def life(self) -> int:
        """Return which life of the server this is: streams reconnect, and rows do not tell."""
        return self.programs.lives['server']

    def client(self, **options: str) -> Client:
        """Return a client of the server, to be closed."""
        return Client(rpc_port=self.programs.ports['rpc'], shared=True, timeout=20.0, **options)

    def wait_for_data(self, *names: str) -> None:
        """Wait until these clients, or all, have something new."""
        begun = time.monotonic()
        waiting = [w for w in self.watchers if not names or w.name in names]
        while waiting := [w for w in waiting if w.newest <= begun]:
            late = [f'{w.name} gets nothing: {w.trouble}' for w in waiting]
            assert time.monotonic() < begun + PATIENCE, '; '.join(late)
            time.sleep(0.01)

    def do(self, name: str, fault: Fault) -> None:
        """Let a fault happen, and wait until all clients have data again."""
        print(f'{time.monotonic() - self.began:7.1f} s  {name:42}', end='', flush=True)
        problems = []
        for step in (fault, Soak.wait_for_data):
            over = time.monotonic()
            try:
                step(self)
            except Exception as error:  # the other faults are still to be tried
                problems.append(f'{type(error).__name__}: {error}'[:1000])
        recovered = time.monotonic() - over
        for program, process in self.programs.running.items():
            if process.poll() is not None:
                problems.append(f'{program} has ended: {self.programs.log(program)[-500:]}')
                self.programs.start(program)
        self._sample()
        self.broken += [f'{name}: {problem}' for problem in problems]
        print(f'recovered in {recovered:5.2f} s  {"; ".join(problems)}', flush=True)

    def _sample(self) -> None:
        """Note what each program holds, by name and process: another life begins anew."""
        pids = {name: process.pid for name, process in self.programs.running.items()}
        pids['renderer'] = self.programs.renderer() or 0
        for name, pid in pids.items():
            with contextlib.suppress(psutil.Error):  # it has just ended
                memory = psutil.Process(pid).memory_info().rss / 2**20
                row = (time.monotonic() - self.began) / 3600, memory
                self.loads.setdefault((name, pid), []).append(row)

    def close(self) -> None:
        """End everything, and judge it."""
        for watcher in self.watchers:
            watcher.is_over = True
            self.broken += [f'{watcher.name}: {problem}' for problem in watcher.broken]
        for proxy in self.proxies.values():
            proxy.close()
        codes = self.programs.stop()
        for name, code in codes.items():
            log = self.programs.log(name)
            if code:
                self.broken.append(f'{name} ended with {code}')
            if 'Traceback' in log:
                self.broken.append(f'{name} logged: {log[log.index("Traceback") :][:1500]}')
        for path, frames in self.saved.items():
            with contextlib.suppress(Exception):
                if len(decode([path.read_text()])) == frames:
                    continue
            self.broken.append(f'{path} was acknowledged with {frames} frames and is not there')
        if self.ros is not None:
            from bag_faults import unreadable

            self.ros.close()
            self.broken += filter(
                None, (unreadable(path, *bag) for path, bag in self.bags.items())
            )
            for topic, count in self.ros.backs.items():
                if count >= self.life():
                    self.broken.append(f'time went back {count} times on {topic}')
        self.broken += growing(self.loads)

    def kill(self, name: str) -> None:
        """kill -9, and a new start a moment later."""
        with self.programs.without(name):
            time.sleep(0.3)

    def freeze(self, name: str) -> None:
        """SIGSTOP, and SIGCONT later."""
        self.programs.running[name].send_signal(signal.SIGSTOP)
        time.sleep(self.window)
        self.programs.running[name].send_signal(signal.SIGCONT)

    def harm(self, kinds: dict[str, str]) -> None:
        """Let proxies harm what they relay for a while; who is connected directly goes on."""
        with contextlib.ExitStack() as harmed:
            for protocol, kind in kinds.items():
                harmed.enter_context(self.proxies[protocol].harmed(kind))
            time.sleep(self.window)
            self.wait_for_data(*(w.name for w in self.watchers if not w.name.endswith('proxied')))

    def many_connections(self) -> None:
        """Very many connections that say nothing, and then go."""
        limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = 300 if self.short else min(10_000, limit - 4000)
        with contextlib.ExitStack() as links:
            for name, proxy in self.proxies.items():
                for _ in range(most if name == 'rpc' else most // 20):
                    link = links.enter_context(socket.socket())
                    link.settimeout(2.0)
                    if link.connect_ex(('127.0.0.1', proxy.target)):
                        break  # no more are taken
            with self.client() as client:
                assert client.status()

    def record(self, name: str, *, fails: bool = False) -> None:
        """Record for a moment and save; what was acknowledged must be there from now on."""
        with self.client() as client:
            with contextlib.suppress(RemoteError):
                client.recording_stop()
            client.recording_start(name)
            enough = client.forward().time + 0.2
            wait_until(lambda: client.forward().time > enough, PATIENCE)
            frames = client.recording_stop().frame_count
            code = ''
            try:
                self.saved[Path(client.recording_save())] = frames
            except RemoteError as error:
                code = error.code
            assert code == ('path_not_writable' if fails else ''), f'saving: {code!r}'

    def full_disk(self) -> None:
        """No file may grow beyond a few kilobytes: the write fails, and nothing else does."""
        pid = self.programs.running['server'].pid
        limits = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (TIGHT, limits[1]))
        try:
            self.record('full', fails=True)
        finally:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)
        parts = [path.name for path in self.programs.data.rglob('*.part')]
        assert not parts, f'left behind: {parts}'
        self.record('after')

    def clock_jumps(self) -> None:
        """The wall clock of all programs goes an hour ahead, and then two back."""
        for jump in (3600.0, -3600.0, 0.0):
            with self.programs.clock.open('r+b') as file:
                file.write(struct.pack('<d', jump))
            time.sleep(self.window / 2)

    def commander_dies(self) -> None:
        """Who drives a robot is killed; the robot comes to a stand, and stays there."""
        words = [sys.executable, HERE / 'commander.py', str(self.programs.ports['rpc'])]
        driver = start_process(words, stdout=subprocess.PIPE, text=True)
        with self.client(observations='full') as client, driver.stdout:

            def rover() -> tuple:
                state = client.forward().articulations['rover']
                return state.qpos[:2].copy(), abs(state.qvel[:2]).max()

            driver.stdout.readline()
            wait_until(lambda: rover()[1] > 0.1, PATIENCE, 'the rover does not drive')
            driver.kill()
            driver.wait()
            wait_until(lambda: rover()[1] < 0.01, PATIENCE, 'the rover drives without a driver')
            before = rover()[0]
            time.sleep(self.window)
            assert abs(rover()[0] - before).max() < 0.01, f'the rover has moved from {before}'

    def faults(self) -> dict[str, Fault]:
        """Return the matrix; those that end a program begin with 'kill' or 'loss'."""
        if self.short:
            ways = dict(zip(self.proxies, reversed(KINDS), strict=False))
            harms = {'another fault on the way to each': ways}
        else:
            every = itertools.product(self.proxies, KINDS)
            harms = {f'{kind} on the way to {way}': {way: kind} for way, kind in every}
        found: dict[str, Fault] = {
            name: functools.partial(Soak.harm, kinds=kinds) for name, kinds in harms.items()
        }
        for program in self.programs.names[: 1 if self.short else None]:
            found[f'kill -9 of {program}'] = lambda soak, p=program: soak.kill(p)
            found[f'SIGSTOP of {program}'] = lambda soak, p=program: soak.freeze(p)
        if 'camera' in self.proxies:
            found |= renderer_faults.FAULTS
        if self.ros is not None:
            import bag_faults

            found |= bag_faults.FAULTS
        return found | {
            'very many connections': Soak.many_connections,
            'disk full while saving': Soak.full_disk,
            'wall clock jumps': Soak.clock_jumps,
            'the commander is killed': Soak.commander_dies,
        }


def growing(loads: dict[tuple[str, int], list[tuple[float, float]]]) -> list[str]:
    """Return the programs whose memory grows over the second half of a life, and how fast."""
    found = []
    for (name, _), rows in loads.items():
        settled = rows[len(rows) // 2 :]
        hours = settled[-1][0] - settled[0][0]
        if hours > JUDGED:
            slope = statistics.linear_regression(*zip(*settled, strict=True)).slope
            if slope > SLOPE_MB_AN_HOUR and slope * hours > GROWTH_MB:
                found.append(f'{name} grows by {slope:.0f} MB an hour')
    return found


def held(loads: dict[tuple[str, int], list[tuple[float, float]]]) -> list[str]:
    """Return what each program holds: in the middle and at the end of its last life."""
    lives = {name: rows for (name, _), rows in loads.items()}
    return [
        f'{name:10} {rows[len(rows) // 2][1]:5.0f} -> {rows[-1][1]:5.0f} MB in the last '
        f'{(rows[-1][0] - rows[len(rows) // 2][0]) * 60:.0f} min'
        for name, rows in lives.items()
    ]


def run(soak: Soak, seed: int, seconds: float, only: list[str]) -> None:
    """Run rounds of the matrix: what ends a program only in the first, then all live on."""
    chance = random.Random(seed)
    matrix = [row for row in soak.faults().items() if not only or any(w in row[0] for w in only)]
    for row in matrix:
        soak.do(*row)
    lasting = [row for row in matrix if not row[0].startswith(('kill', 'loss'))]
    while not soak.short and not only:
        chance.shuffle(lasting)
        for row in lasting:
            if time.monotonic() - soak.began > seconds:
                return
            soak.do(*row)


def main() -> int:
    """Run rounds of the matrix, and print what became of each fault."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').strip().splitlines()[0])
    parser.add_argument('--minutes', type=float, default=30.0)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--short', action='store_true', help='one of each kind, once')
    parser.add_argument('--only', nargs='*', default=[], help='faults with one of these words')
    options = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory(prefix='urlab-soak-') as folder:
        soak = Soak(Path(folder), options.seed, options.short)
        try:
            run(soak, options.seed, options.minutes * 60, options.only)
        except KeyboardInterrupt:
            print('\ninterrupted: what was seen until now')
        finally:
            soak.close()
    print('\nmemory held', *held(soak.loads), sep='\n  ')
    print(*(f'BROKEN: {line}' for line in soak.broken), sep='\n')
    print('an invariant is broken' if soak.broken else 'all invariants hold')
    return int(bool(soak.broken))


if __name__ == '__main__':
    sys.exit(main())
