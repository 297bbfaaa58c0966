#!/usr/bin/env python3
# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The SimSpark gateway on the world soccer with 1, 4 and 11 robots, with and without a monitor.

For each world: the real-time factor when the gateway steps as fast as it goes (--pace free), with
server and gateway as programs of their own; the messages a second that a monitor gets; bytes of
full and of changed scenes; what writing a frame costs the gateway against the 20 calls of mj_step
that it shows (CPU time); and the floor, mj_step alone.

For two teams of agents in sync mode, also the real-time factor and the CPU time that the gateway
needs for a cycle and for an agent.

Runs with and without a monitor are short and take turns, a pair at a time, and every other pair
begins with the monitor, so that a machine that becomes faster or slower meanwhile does so for
both.  What a monitor takes is the median of the pairs, with quartiles: of the rate, and of the CPU
time of both programs for a simulated second, which other programs on the machine change less.

With --peer PATH the same for rcssservermj (`pip install rcsssmj` elsewhere) and its T1 robots; its
agents answer each percept with (syn) and nothing else, as fast as it goes.  The robots differ, so
the ratio to the peer is that of two products, not of two simulators of one robot.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import contextmanager
from contextlib import suppress
import os
from pathlib import Path
import re
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from typing import IO
from typing import NamedTuple

import mujoco
from ratios import note
import yaml

sys.path.append(str(Path(__file__).parents[1] / 'examples'))

from simspark_client import MonitorClient
from simspark_client.clients import AgentClient

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.gateways.simspark.game.state import GameState
from urlab_ros_bridge.gateways.simspark.monitor.viewers import Viewers
from urlab_ros_bridge.gateways.simspark.serving.cycle import SimSparkWorld
from urlab_ros_bridge.gateways.simspark.serving.paces import SteppedPace
from urlab_ros_bridge.gateways.simspark.wire.framing import frame
from urlab_ros_bridge.gateways.simspark.wire.framing import FrameReader
from urlab_ros_bridge.gateways.simspark.wire.framing import MAX_SCENE
from urlab_ros_bridge.gateways.simspark.world.stage import GameStage
from urlab_ros_bridge.gateways.simulation.link import SimulationLink
from urlab_ros_bridge.models.soccer import write_world

MAIN = [sys.executable, '-m', 'urlab_ros_bridge.cli.main']
PORTS = [f'--{name}-port=0' for name in ('rpc', 'state', 'camera', 'control', 'info')]
STEPS_A_FRAME = 20
_SETTLING = 0.3  # s, after a monitor has come or gone


def world(folder: Path, robots: int) -> Path:
    """Write the world soccer with so many robots, of both teams in turn."""
    path = write_world(folder, 11, 'page')
    spec = yaml.safe_load(path.read_text())
    players = spec['articulations']
    order = [pair for pairs in zip(players[:11], players[11:], strict=True) for pair in pairs]
    for player in order:
        player.pop('cameras', None)
    spec['articulations'] = order[:robots]
    spec.pop('global_cameras', None)
    path.write_text(yaml.safe_dump(spec))
    return path


class Program(NamedTuple):
    """A program that runs, and its first line."""

    pid: int
    line: str

    def find(self, pattern: str) -> str:
        """Return a part of the line."""
        found = re.search(pattern, self.line)
        assert found is not None, self.line
        return found[1]


@contextmanager
def program(*words: str) -> Iterator[Program]:
    """Run a program."""
    environ = {**os.environ, 'PYTHONUNBUFFERED': '1'}
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environ)
    try:
        assert process.stdout is not None
        yield Program(process.pid, process.stdout.readline())
    finally:
        process.terminate()
        process.wait(20)


class Reader(threading.Thread):
    """A monitor that only receives."""

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self.sizes: list[tuple[bytes, int]] = []
        self._socket = _connected(port)
        self._over = False

    def run(self) -> None:
        reader = FrameReader(MAX_SCENE)
        with suppress(OSError):
            while not self._over and (data := self._socket.recv(1 << 20)):
                for payload in reader.feed(data):
                    self.sizes.append((payload[payload.find(b')(R') + 2 :][:3], len(payload)))

    def stop(self) -> None:
        self._over = True
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self.join()


def floor(client: Client, seconds: float) -> float:
    """Return the real-time factor of mj_step alone, in this process."""
    model = client.handshake.model
    data = mujoco.MjData(model)
    state = client.forward()
    for prefix, articulation in state.articulations.items():
        robot = [j for j in range(model.njnt) if model.joint(j).name.startswith(f'{prefix}_')]
        data.qpos[[slot for joint in robot for slot in _slots(model, joint)]] = articulation.qpos
    began = time.thread_time()
    while (passed := time.thread_time() - began) < seconds:
        mujoco.mj_step(model, data, nstep=10)
    return float(data.time) / passed


def _slots(model: mujoco.MjModel, joint: int) -> range:
    first = int(model.jnt_qposadr[joint])
    return range(first, first + (7, 4, 1, 1)[model.jnt_type[joint]])


def cpu_seconds(*programs: Program) -> float:
    """Return the CPU time of programs so far."""
    ticks = 0
    for each in programs:
        fields = Path(f'/proc/{each.pid}/stat').read_text().rpartition(')')[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf('SC_CLK_TCK')


def rate(client: Client, seconds: float) -> float:
    """Return simulated seconds a second, by the server's own account."""
    began, first = time.perf_counter(), client.forward().time
    time.sleep(seconds)
    last = client.forward().time
    return (last - first) / (time.perf_counter() - began)


def writing(rpc_port: int, frames: int) -> tuple[float, float, float]:
    """Return CPU seconds of a frame: taking an observation over, writing it; and bytes a diff."""
    link = SimulationLink('127.0.0.1', rpc_port, 'bench')
    link.connect()
    drive = SteppedPace(link, real_time=False)
    served = SimSparkWorld(link, drive)
    served.scene.update(link.forward())
    game = GameState()
    game.roster.enlist(served.scene.robots)
    viewers = Viewers(game)
    viewers.begin(GameStage(game, served.scene, served.placement))
    taken: list[int] = []

    class Sink:
        is_clear = True

        def send(self, payload: bytes) -> bool:
            taken.append(len(payload))
            return True

    viewers.join(Sink())
    viewers.cycle()
    updating, wrote = [], []
    clock = time.thread_time
    for _ in range(frames):
        drive.observe({})
        seen = drive.observe({})
        start = clock()
        served.scene.update(seen)
        between = clock()
        viewers.cycle()
        updating.append(between - start)
        wrote.append(clock() - between)
    served.close()
    link.close()
    return statistics.median(updating), statistics.median(wrote), statistics.mean(taken[2:])


class Spread(NamedTuple):
    """Median and quartiles."""

    low: float
    middle: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """Return those of at least two values."""
        return cls(*statistics.quantiles(values, n=4, method='inclusive'))

    def text(self) -> str:
        """Return a change in percent, from ratios."""
        low, middle, high = (100 * (ratio - 1) for ratio in self)
        return f'{middle:+.1f} % ({low:+.1f} to {high:+.1f})'


class Rates(NamedTuple):
    """Simulated seconds a second, pair by pair: without a monitor, and with one."""

    without: list[float]
    watched: list[float]

    @property
    def kept(self) -> list[float]:
        """Return the share of the rate that is left with a monitor."""
        return [b / a for a, b in zip(self.without, self.watched, strict=True)]

    def text(self) -> str:
        """Return medians for people."""
        return (
            f'{statistics.median(self.without):.2f} x, with a monitor '
            f'{statistics.median(self.watched):.2f} x ({Spread.of(self.kept).text()})'
        )


class Stretch(NamedTuple):
    """
    What one run of some seconds has shown.

    :ivar rate: simulated seconds a second; `cpu` seconds of both programs for a simulated second.
    :ivar messages: of a monitor, for each simulated second; 0 without one.
    """

    rate: float
    cpu: float
    messages: float


class Bench:
    """
    A server and a gateway that run as fast as they go.

    :ivar fulls: bytes of the full messages that monitors have got.
    """

    def __init__(self, client: Client, programs: Sequence[Program], port: int) -> None:
        self.fulls: list[int] = []
        self._client = client
        self._programs = programs
        self._port = port

    def pairs(self, seconds: float, rounds: int) -> list[tuple[Stretch, Stretch]]:
        """Measure without and with a monitor, in turns."""
        found = []
        for index in range(rounds):
            if index % 2:
                watched, without = self._watched(seconds), self._stretch(seconds)
            else:
                without, watched = self._stretch(seconds), self._watched(seconds)
            found.append((without, watched))
        return found

    def _stretch(self, seconds: float, reader: Reader | None = None) -> Stretch:
        had = 0 if reader is None else len(reader.sizes)
        before = cpu_seconds(*self._programs)
        factor = rate(self._client, seconds)
        simulated = factor * seconds
        cost = (cpu_seconds(*self._programs) - before) / simulated
        got = 0 if reader is None else len(reader.sizes) - had
        return Stretch(factor, cost, got / simulated)

    def _watched(self, seconds: float) -> Stretch:
        reader = Reader(self._port)
        reader.start()
        time.sleep(_SETTLING)
        try:
            return self._stretch(seconds, reader)
        finally:
            reader.stop()
            self.fulls += [size for kind, size in reader.sizes if kind == b'RSG']
            time.sleep(_SETTLING)


def ours(robots: int, seconds: float, rounds: int, folder: Path) -> Rates:
    """Measure one world, print and return it."""
    path = world(folder / str(robots), robots)
    with program(*MAIN, 'server', f'--model={path}', '--cameras=off', *PORTS) as server:
        rpc = int(server.find(r'rpc=tcp://[^:]+:(\d+)'))
        client = Client(rpc_port=rpc, shared=True)
        client.connect()
        updating, wrote, diff = writing(rpc, 200)
        words = [f'--rpc-port={rpc}', '--port=0', '--monitor-port=0', '--pace=free']
        words.append('--players=all')
        with program(*MAIN, 'simspark', *words) as gateway:
            bench = Bench(client, (server, gateway), int(gateway.find(r'monitors=(\d+)')))
            time.sleep(1.0)
            pairs = bench.pairs(seconds, rounds)
        alone = floor(client, seconds)
        step = 0.002 / alone
        client.close()
    median = statistics.median
    rates = Rates([a.rate for a, _ in pairs], [b.rate for _, b in pairs])
    costs = [b.cpu / a.cpu for a, b in pairs]
    note(f'{robots} robots, a monitor', rates.kept, 'none')
    note(f'{robots} robots, CPU with a monitor', costs, 'none')
    note(f'{robots} robots', [factor / alone for factor in rates.without], 'mj_step alone')
    print(f'{robots} robots: mj_step alone {alone:.2f} x real time')
    print(f'  --pace free: {rates.text()}; {rounds} pairs of {seconds:g} s')
    print(
        f'  CPU of server and gateway for a simulated second: '
        f'{1e3 * median(a.cpu for a, _ in pairs):.0f} ms, with a monitor '
        f'{1e3 * median(b.cpu for _, b in pairs):.0f} ms ({Spread.of(costs).text()})'
    )
    print(
        f'  monitor: {median(b.messages for _, b in pairs):.1f} messages a simulated second, full '
        f'{median(bench.fulls) / 1e3:.0f} kB, diff {diff / 1e3:.1f} kB; a frame: scene '
        f'{1e3 * updating:.2f} ms, writing {1e3 * wrote:.2f} ms, {STEPS_A_FRAME} mj_step '
        f'{1e3 * step * STEPS_A_FRAME:.2f} ms',
        flush=True,
    )
    return rates


def live_rate(folder: Path, robots: int, seconds: float) -> None:
    """Print the messages a second of a server in real time."""
    path = folder / str(robots) / 'soccer.yaml'
    with program(*MAIN, 'server', f'--model={path}', '--cameras=off', *PORTS) as server:
        rpc = server.find(r'rpc=tcp://[^:]+:(\d+)')
        words = [f'--rpc-port={rpc}', '--port=0', '--monitor-port=0']
        with program(*MAIN, 'simspark', *words) as gateway:
            port = int(gateway.find(r'monitors=(\d+)'))
            client = Client(rpc_port=int(rpc), shared=True)
            client.connect()
            with MonitorClient(port=port) as monitor:
                monitor.receive()
                began, count = time.perf_counter(), 0
                while time.perf_counter() - began < seconds:
                    count += monitor.receive() is not None
                passed = time.perf_counter() - began
            factor = rate(client, seconds)
            client.close()
    print(f'  live: {factor:.2f} of real time, {count / passed:.1f} messages/s', flush=True)


def agents_rate(folder: Path, a_side: int, seconds: float) -> None:
    """Print what agents cost: two teams in sync mode, whose joints move in every cycle."""
    path = write_world(folder / f'agents{a_side}', a_side, 'league')
    with program(*MAIN, 'server', f'--model={path}', '--cameras=off', *PORTS) as server:
        rpc = server.find(r'rpc=tcp://[^:]+:(\d+)')
        client = Client(rpc_port=int(rpc), shared=True)
        client.connect()
        for pace in ('real_time', 'free'):
            words = [f'--rpc-port={rpc}', '--port=0', '--monitor-port=0', f'--pace={pace}']
            words.append(f'--kick-off={2 * a_side}')
            with program(*MAIN, 'simspark', *words) as gateway:
                port = int(gateway.find(r'agents=(\d+)'))
                players = [
                    AgentClient(port=port, team=team, timeout=60)
                    for _ in range(a_side)
                    for team in ('A', 'B')
                ]
                began, cpu = time.perf_counter(), cpu_seconds(gateway)
                cycle = 0
                while time.perf_counter() - began < seconds:
                    for player in players:
                        player.receive()
                        player.send(['he1', 0.5 if cycle // 50 % 2 else -0.5], ['lle3', 0.1],
                                    ['syn'])  # fmt: skip
                    cycle += 1
                passed = time.perf_counter() - began
                cost = (cpu_seconds(gateway) - cpu) / max(cycle, 1)
                for player in players:
                    player.close()
            print(
                f'{a_side} against {a_side}, --pace {pace}: {cycle * 0.02 / passed:.2f} of real '
                f'time, {1e3 * cost:.1f} ms of CPU of the gateway a cycle, '
                f'{1e3 * cost / len(players):.2f} ms an agent',
                flush=True,
            )
        client.close()


def _connected(port: int) -> socket.socket:
    """Connect once, when there is a subscriber: a probe that is reset would end the peer."""
    for _ in range(300):
        with suppress(OSError):
            return socket.create_connection(('127.0.0.1', port))
        time.sleep(0.1)
    raise TimeoutError('the peer does not listen')


class Listener(threading.Thread):
    """Agents of the peer: each takes a robot and listens; the first tells the time."""

    def __init__(self, port: int, robots: int) -> None:
        super().__init__(daemon=True)
        self.now = 0.0
        self.over = False
        self.sockets = []
        for index in range(robots):
            link = _connected(port)
            link.sendall(frame(f'(init T1 team{index % 2} {index // 2 + 1})'.encode()))
            self.sockets.append(link)

    def run(self) -> None:
        selector = selectors.DefaultSelector()
        for link in self.sockets:
            selector.register(link, selectors.EVENT_READ)
        while not self.over:
            with suppress(OSError):  # the measurement notices that it stands still
                self._answer(selector)

    def _answer(self, selector: selectors.DefaultSelector) -> None:
        for key, _ in selector.select(0.1):
            link = key.fileobj
            assert isinstance(link, socket.socket)
            data = link.recv(1 << 18)
            link.sendall(frame(b'(syn)'))
            if link is self.sockets[0]:
                found = re.findall(rb'\(now ([0-9.]+)\)', data)
                self.now = float(found[-1]) if found else self.now


def peer(path: str, robots: int, seconds: float, rounds: int) -> Rates | None:
    """
    Measure rcssservermj, print and return it; None when it has ended in each of three tries.

    It ends when a monitor hangs up with messages unread, which depends on the moment.
    """
    for _ in range(3):
        with tempfile.TemporaryFile() as output:
            try:
                rates = _measure_peer(path, robots, seconds, rounds, output)
            except OSError as error:
                output.seek(0)
                last = output.read().decode(errors='replace').strip().splitlines()[-3:]
                print(f'  rcssservermj has ended ({error}); its last lines: {last}', flush=True)
                continue
        print(f'  rcssservermj: {rates.text()}', flush=True)
        note(f'rcssservermj, {robots} robots, a monitor', rates.kept, 'none')
        return rates
    return None


def _measure_peer(path: str, robots: int, seconds: float, rounds: int, output: IO[bytes]) -> Rates:
    with socket.socket() as one, socket.socket() as two:
        one.bind(('127.0.0.1', 0))
        two.bind(('127.0.0.1', 0))
        ports = one.getsockname()[1], two.getsockname()[1]
    process = subprocess.Popen(
        [path, '--aport', str(ports[0]), '--mport', str(ports[1]), '--no-realtime', '--no-render',
         '--sync', '--time', '0'],
        stdout=output, stderr=output, cwd=tempfile.gettempdir(),  # it writes a log where it is
    )  # fmt: skip
    agents: Listener | None = None
    try:
        # An agent that comes before its first step ends it, so a monitor looks first.
        first = Reader(ports[1])
        first.start()
        for _ in range(300):
            if len(first.sizes) > 2:
                break
            time.sleep(0.1)
        first.stop()
        agents = listener = Listener(ports[0], robots)
        listener.start()
        _wait_until_it_moves(listener)

        def factor() -> float:
            began, first = time.perf_counter(), listener.now
            time.sleep(seconds)
            return (listener.now - first) / (time.perf_counter() - began)

        def watched_factor() -> float:
            reader = Reader(ports[1])
            reader.start()
            time.sleep(_SETTLING)
            found = factor()
            reader.stop()
            return found

        without, watched = [], []
        for index in range(rounds):
            if index % 2:
                watched.append(watched_factor())
                without.append(factor())
            else:
                without.append(factor())
                watched.append(watched_factor())
        if not all(without + watched):
            raise ConnectionError('its time is frozen')
        return Rates(without, watched)
    finally:
        if agents is not None:
            agents.over = True
        process.kill()
        process.wait()


def _wait_until_it_moves(agents: Listener) -> None:
    """Let all agents get their robots, however long a busy machine takes for the first steps."""
    until = time.monotonic() + 60.0
    while agents.now == 0.0 and time.monotonic() < until:
        time.sleep(0.1)
    first = agents.now
    while agents.now < first + 0.2 and time.monotonic() < until:
        time.sleep(0.1)
    time.sleep(5.0)


def compare(robots: int, own: Rates, other: Rates) -> None:
    """Print how many times as fast as the peer this is."""
    texts = []
    for name, mine, theirs in (
        ('without a monitor', own.without, other.without),
        ('with a monitor', own.watched, other.watched),
    ):
        ratios = [a / b for a, b in zip(mine, theirs, strict=True)]
        note(f'{robots} robots, {name}', ratios, 'rcssservermj')
        texts.append(f'{name} {statistics.median(ratios):.2f}')
    print(f'  to rcssservermj: {", ".join(texts)}', flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--robots', type=int, nargs='*', default=[1, 4, 11])
    parser.add_argument('--seconds', type=float, default=1.5, help='of each run')
    parser.add_argument('--rounds', type=int, default=11, help='pairs of runs, at least two')
    parser.add_argument('--peer', default='', help='path of rcssservermj')
    parser.add_argument('--agents', type=int, nargs='*', default=[5, 11], help='players a side')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for robots in options.robots:
            own = ours(robots, options.seconds, options.rounds, Path(folder))
            live_rate(Path(folder), robots, max(options.seconds, 3.0))
            other = (
                peer(options.peer, robots, options.seconds, options.rounds)
                if options.peer
                else None
            )
            if other is not None:
                compare(robots, own, other)
        for a_side in options.agents:
            agents_rate(Path(folder), a_side, max(options.seconds, 5.0))


if __name__ == '__main__':
    main()
