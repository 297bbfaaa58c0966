# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Send the server random and broken frames, and see that it takes no harm.

Each round starts the real server program and sends frames over RPC and the control stream, and
writes into shared memory.  Every request must be answered with a reply of the protocol, never with
`internal_error`; the process must live, answer `status` in time, log no traceback, and not grow.
Not part of `make bench`: the full run takes some minutes (`python bench/fuzz.py`), a short one is
among the tests.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass
from dataclasses import field
import os
from pathlib import Path
import re
import subprocess
import sys
import tempfile
import time
from typing import Any

import zmq

sys.path.insert(0, str(Path(__file__).resolve().parent))
from fuzz_frames import Fuzz
from fuzz_shm import NoAnswer
from fuzz_shm import ShmAttack

from urlab_ros_bridge.wire.encoding import codec
from urlab_ros_bridge.wire.errors import ERROR_CODES
from urlab_ros_bridge.wire.errors import WireError

WINDOW = 16  # requests on their way at a time
HANG_SECONDS = 40.0  # a step may take 5 s, and eight may wait for one another
GROWTH_MB = 40.0  # of the server from the middle of the run to its end
TIDY_EVERY = 500  # frames
ROUNDS = {'rover': 2, 'quadruped': 12, 'editor': 2}  # actuators; editor: no world at first


@dataclass
class Findings:
    """What a round found."""

    answers: Counter = field(default_factory=Counter)
    ways: Counter = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    memory_mb: list[float] = field(default_factory=list)
    frames: int = 0


class Server:
    """The server program in its own process."""

    def __init__(self, world: str, folder: Path) -> None:
        self.log = folder / 'log.txt'
        words = ['server', '--data-dir', str(folder / 'data')]
        words += ['--editor'] if world == 'editor' else ['--world', world]
        words += [f'--{name}-port=0' for name in ('rpc', 'state', 'camera', 'control', 'info')]
        with self.log.open('w') as log:
            self.process = subprocess.Popen(
                [sys.executable, '-m', 'urlab_ros_bridge.cli.main', *words],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                # Memory that each thread keeps for itself would hide a leak.
                env={**os.environ, 'MALLOC_ARENA_MAX': '1'},
            )
        line = self.process.stdout.readline()
        self.places = dict(re.findall(r'(\w+)=(tcp://\S+)', line))
        if not self.places:
            raise RuntimeError(f'the server did not start: {self.log.read_text()}')

    def memory_mb(self) -> float:
        """Return the resident memory."""
        text = Path(f'/proc/{self.process.pid}/status').read_text()
        return int(re.search(r'VmRSS:\s+(\d+)', text)[1]) / 1024

    def descriptors(self) -> int:
        """Return the number of open files."""
        return len(os.listdir(f'/proc/{self.process.pid}/fd'))

    def stop(self) -> int:
        """End it politely and return its exit code."""
        self.process.terminate()
        try:
            return self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


class Attack:
    """One round against one server."""

    def __init__(self, server: Server, world: str, seed: int) -> None:
        self.server, self.world = server, world
        self.fuzz = Fuzz(seed, editing=world == 'editor')
        self.found = Findings()
        self._zmq = zmq.Context()
        self._rpc = self._socket(zmq.DEALER, 'rpc')
        self._asker = self._socket(zmq.REQ, 'rpc')
        self._control = self._socket(zmq.PUB, 'control')
        self._listener = self._socket(zmq.SUB, 'state')
        self._waiting = 0
        hello = self.ask('hello', shared=True, shm_channel=True)
        self.session_id = hello['session_id']
        # The pair of stock clients, and one of its own as our client has it.
        self._shm = [
            ShmAttack(hello['shm_session_dir'], channel, self.fuzz, HANG_SECONDS)
            for channel in ('', hello['shm_channel'])
        ]
        self.options = self.ask('set_sim_options', options={}).get('options', {})

    def _socket(self, kind: int, place: str) -> zmq.Socket:
        socket = self._zmq.socket(kind)
        socket.setsockopt(zmq.LINGER, 0)
        socket.setsockopt(zmq.RCVTIMEO, int(HANG_SECONDS * 1000))
        if kind == zmq.REQ:
            socket.setsockopt(zmq.REQ_RELAXED, 1)
        socket.connect(self.server.places[place])
        return socket

    def ask(self, op: str, **fields: Any) -> dict[str, Any]:
        """Send a proper request of our own."""
        message = {'op': op, **fields}
        if op != 'hello':
            message['session_id'] = self.session_id
        self._asker.send(codec.pack(message))
        return codec.unpack(self._asker.recv(), 1 << 30)

    def run(self, frames: int, show: Progress) -> Findings:
        """Send `frames` frames; stops at the first hang or crash."""
        try:
            while self.found.frames < frames:
                self._send_one()
                while self._waiting >= WINDOW:
                    self._receive()
                self.found.frames += 1
                if self.found.frames % TIDY_EVERY == 0:
                    self._tidy()
                    show.update(self.found.frames, self.found.memory_mb[-1])
            while self._waiting:
                self._receive()
            self._tidy()
        except zmq.Again:
            self.found.problems.append(f'no answer for {HANG_SECONDS:g} s')
        except NoAnswer as error:
            self.found.problems.append(str(error))
        if self.server.process.poll() is not None:
            self.found.problems.append(f'the server ended: {self.server.process.returncode}')
        self._zmq.destroy(linger=0)
        self.found.ways['hostile'] = self.fuzz.hostile
        for pair in self._shm:
            pair.close()
            self.found.ways.update({f'shm, {kind}': count for kind, count in pair.counts.items()})
        return self.found

    def _send_one(self) -> None:
        pick = self.fuzz.random.random()
        if pick < 0.2:
            self.found.ways['control'] += 1
            self._control.send_multipart(self.fuzz.control(self.world, ROUNDS[self.world]))
        elif pick < 0.22:
            self.found.ways['subscriptions'] += 1
            topic = self.fuzz.random.randbytes(self.fuzz.random.randrange(6))
            self._listener.setsockopt(
                self.fuzz.random.choice((zmq.SUBSCRIBE, zmq.UNSUBSCRIBE)), topic
            )
        elif pick < 0.5:
            reply = self.fuzz.random.choice(self._shm).send_one(self.session_id)
            if reply is not None:
                self._judge(reply)
        else:
            self.found.ways['requests'] += 1
            self._rpc.send_multipart([b'', self.fuzz.frame(self.session_id)])
            self._waiting += 1

    def _receive(self) -> None:
        _, reply = self._rpc.recv_multipart()
        self._waiting -= 1
        self._judge(reply)

    def _judge(self, reply: bytes) -> None:
        """Note what is wrong with a reply, and what it is."""
        try:
            message = codec.unpack(reply, 1 << 30)
        except WireError as error:
            self.found.problems.append(f'a reply that is none: {error}')
            return
        answer = message.get('op')
        if answer == 'error':
            answer = code = message.get('code')
            if set(message) != {'op', 'code', 'message'} or code not in ERROR_CODES:
                self.found.problems.append(f'an error reply that is none: {message}')
            if code == 'internal_error':
                self.found.problems.append('internal_error')
        elif not isinstance(answer, str) or not answer.endswith('_ok'):
            self.found.problems.append(f'a reply with op {answer!r:.80}')
        self.found.answers[answer] += 1

    def _tidy(self) -> None:
        """Undo what would only slow the rest down, and see that the server is well."""
        for op, fields in (
            ('set_paused', {'paused': False}),
            ('recording_stop', {}),
            ('recording_clear', {}),
            ('replay_stop', {}),
            ('set_sim_options', {'options': self.options}),
            ('set_sim_speed', {'percent': 100}),
            ('randomize', {'restore': True}),
            ('reset', {}),
        ):
            self.ask(op, **fields)
        status = self.ask('status')
        if status.get('op') != 'status_ok' or status.get('fault'):
            self.found.problems.append(f'status: {status}')
        self.found.memory_mb.append(self.server.memory_mb())


class Progress:
    """A bar on stderr."""

    def __init__(self, total: int) -> None:
        self._total, self._done = total, 0
        self._start = time.monotonic()

    def begin(self, done: int) -> None:
        """Begin a round after `done` frames of other rounds."""
        self._done = done

    def update(self, frames: int, memory_mb: float) -> None:
        """Show how far it is."""
        done = self._done + frames
        bar = '#' * (30 * done // self._total)
        rate = done / (time.monotonic() - self._start)
        print(
            f'\r[{bar:30s}] {done:,}/{self._total:,} frames, {rate:,.0f}/s, '
            f'server {memory_mb:.0f} MB ',
            end='',
            file=sys.stderr,
            flush=True,
        )


def attack(world: str, frames: int, seed: int, show: Progress) -> Findings:
    """Run one round with a server of its own and judge it."""
    with tempfile.TemporaryDirectory() as name:
        server = Server(world, Path(name))
        try:
            before = server.descriptors()
            found = Attack(server, world, seed).run(frames, show)
            if server.process.poll() is None and server.descriptors() > before + 40:
                found.problems.append(f'open files: {before} -> {server.descriptors()}')
        finally:
            code = server.stop()
        if code != 0:
            found.problems.append(f'exit code {code}')
        log = server.log.read_text(errors='replace')
        if 'Traceback' in log:
            found.problems.append('traceback in the log: ' + log[log.index('Traceback') :][:3000])
    half = found.memory_mb[len(found.memory_mb) // 2 :]
    if half and half[-1] - half[0] > GROWTH_MB:
        found.problems.append(f'memory grew from {half[0]:.0f} to {half[-1]:.0f} MB')
    return found


def main() -> int:
    """Run all rounds and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--frames', type=int, default=200_000)
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    show, failed, done = Progress(options.frames), False, 0
    for number, world in enumerate(ROUNDS):
        show.begin(done)
        share = options.frames // len(ROUNDS)
        found = attack(world, share, options.seed + number, show)
        done += found.frames
        print(f'\n{world}: {found.frames:,} frames, {sum(found.answers.values()):,} replies')
        print('  ' + ', '.join(f'{way}: {count:,}' for way, count in found.ways.items()))
        for answer, count in found.answers.most_common():
            print(f'  {answer:28s} {count:8,}')
        memory = found.memory_mb or [0.0]
        print(f'  memory {memory[0]:.0f} -> {memory[len(memory) // 2]:.0f} -> {memory[-1]:.0f} MB')
        for problem, count in Counter(found.problems).most_common(20):
            print(f'  PROBLEM ({count}x): {problem}')
        failed |= bool(found.problems)
    print('problems were found' if failed else 'no crash, no hang, no leak')
    return int(failed)


if __name__ == '__main__':
    sys.exit(main())
