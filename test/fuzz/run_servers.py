# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Send very many hostile inputs to the server and the gateways, and print how many.

Each is a program of its own.  After each five hundred inputs a gateway must still serve who
behaves, and all the time the server must; in the end it has logged no traceback, has the open
files that it began with, and ends with 0.  Not part of the tests, which have short forms of each.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from collections.abc import Iterator
import contextlib
from pathlib import Path
import random
import sys
import tempfile
import time

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'soak'))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'harness'))

from attack_server import GoodClient
from attack_server import Refused
from attack_server import StepServerAttack
from fuzz_mutation import Mutator
from fuzz_targets import TARGETS
from programs_under_fault import load_of
from programs_under_fault import Programs
from run_fuzz import corpus_of
from watchers import chiral_viewer
from watchers import simspark_monitor
from watchers import webxr_spectator
import zmq

TESTS = Path(__file__).resolve().parents[1]
PORTION = 500
SERVER_PORTION = 4000
PING, CLOSE, PONG = 0x89, 0x88, 0x8A


def chiral(port: int, seed: int, count: int) -> None:
    """Send changed messages of a driver; who is refused connects again."""
    from test.gateways.serving.raw_peer import frame
    from test.gateways.serving.raw_peer import opened

    inputs = Mutator(corpus_of('chiral_action'), TARGETS['chiral_action'].words, seed)
    link = None
    for data in inputs.inputs(count):
        while link is None:
            with contextlib.suppress(AssertionError):  # the one before is still leaving
                link = opened(port)
        try:
            link.sendall(frame(data) + frame(b'', PING))
            if not _is_taken(link):
                link.close()
                link = None
        except (ConnectionError, TimeoutError):
            link.close()
            link = None
    if link is not None:
        link.close()


def _is_taken(link) -> bool:
    """Read up to the answer to a ping; false when the gateway closes instead."""
    tail = b''
    while True:
        data = link.recv(1 << 16)
        tail = tail[-2:] + data
        if bytes((PONG, 0)) in tail:
            return True
        if not data or tail[:1] == bytes((CLOSE,)):
            return False


def webxr(port: int, seed: int, count: int) -> None:
    """Send changed messages of Virtual Field."""
    from test.gateways.virtual_field.serving.nonsense import send

    chance = random.Random(seed)
    for _ in range(0, count, 500):
        send(port, chance, 500)


def simspark(ports: tuple[int, int], seed: int, count: int) -> None:
    """Send what agents and monitors do not."""
    from test.gateways.simspark.hostile import attack

    attack(ports, count, seed)


class Target:
    """A gateway: who attacks it, and who behaves."""

    def __init__(
        self,
        name: str,
        run: Callable[[Programs, int, int], object],
        good: Callable[[Programs], Iterator],
    ) -> None:
        self.name, self.run, self.good = name, run, good


TARGETS_BY_NAME = {
    target.name: target
    for target in (
        Target(
            'chiral',
            lambda programs, seed, count: chiral(programs.ports['chiral'], seed, count),
            lambda programs: chiral_viewer(programs.ports['chiral']),
        ),
        Target(
            'webxr',
            lambda programs, seed, count: webxr(programs.ports['webxr'], seed, count),
            lambda programs: webxr_spectator(programs.ports['webxr']),
        ),
        Target(
            'simspark',
            lambda programs, seed, count: simspark(
                (programs.ports['agents'], programs.ports['monitors']), seed, count
            ),
            lambda programs: simspark_monitor(programs.ports['monitors']),
        ),
    )
}


def serves(target: Target, programs: Programs) -> bool:
    """Return whether somebody who behaves is served, within a minute."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with contextlib.suppress(Exception), contextlib.closing(target.good(programs)) as session:
            for _ in range(3):
                next(session)
            return True
        time.sleep(0.2)
    return False


def fuzz(target: Target, count: int, seconds: float, seed: int) -> list[str]:
    """Attack one gateway; print what was done and return what went wrong."""
    with tempfile.TemporaryDirectory(prefix='urlab-fuzz-') as folder:
        world = 'soccer' if target.name == 'simspark' else 'rover'
        programs = Programs(Path(folder), world, ('server', target.name))
        wrong = []
        try:
            for name in programs.names:
                programs.start(name)
            began, done, before = time.monotonic(), 0, None
            while done < count and time.monotonic() - began < seconds and not wrong:
                target.run(programs, seed + done, PORTION)
                done += PORTION
                if not serves(target, programs):
                    wrong.append('nobody is served any more')
                before = before or load_of(programs.pid(target.name))
            time.sleep(6.0)  # more than a close may take
            after = load_of(programs.pid(target.name))
            if before is not None and after.descriptors > before.descriptors + 5:
                wrong.append(f'{before.descriptors} open files have become {after.descriptors}')
            print(
                f'{target.name:10} {done:>9,} inputs in {time.monotonic() - began:.0f} s, '
                f'{before} -> {after}',
                flush=True,
            )
        finally:
            codes = programs.stop()
        for name in programs.names:
            if codes.get(name) or 'Traceback' in programs.log(name):
                wrong.append(f'{name} ended with {codes.get(name)}: {programs.log(name)[-2000:]}')
        return wrong


def fuzz_server(count: int, seconds: float, seed: int) -> list[str]:
    """Attack the step server; print what was done and return what went wrong."""
    with tempfile.TemporaryDirectory(prefix='urlab-fuzz-') as folder:
        programs = Programs(Path(folder), 'rover', ('server',))
        wrong, done, loads = [], 0, []
        try:
            programs.start('server')
            good = GoodClient(programs.ports['rpc'])
            attack = StepServerAttack(programs.ports['rpc'], seed)
            good.start()
            began = time.monotonic()
            while done < count and time.monotonic() - began < seconds and not good.wrong:
                portion = min(SERVER_PORTION, count - done)
                attack.send(portion)
                done += portion
                loads.append(load_of(programs.pid('server')))
        except (Refused, zmq.Again) as error:
            wrong.append(f'after {done:,}: {error or "no answer"}')
        finally:
            said = good.end()
            attack.close()
            after = load_of(programs.pid('server'))
            code = programs.stop().get('server')
        if said:
            wrong.append(said)
        if loads and after.descriptors > loads[0].descriptors + 5:
            wrong.append(f'{loads[0].descriptors} open files have become {after.descriptors}')
        waits = sorted(good.waits) or [0.0]
        answered = ', '.join(f'{name} {number:,}' for name, number in attack.answers.most_common())
        print(
            f'server     {done:>9,} inputs in {time.monotonic() - began:.0f} s, '
            f'{loads[0] if loads else None} -> {after}; {len(waits):,} answers to who behaves, '
            f'half of them within {waits[len(waits) // 2]:.2f} s, all within {waits[-1]:.2f} s\n'
            f'           {answered}',
            flush=True,
        )
        if code or 'Traceback' in programs.log('server'):
            wrong.append(f'server ended with {code}: {programs.log("server")[-2000:]}')
        return wrong


def main() -> int:
    """Run what is asked for; the exit code tells whether anything was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').strip().splitlines()[0])
    parser.add_argument('--inputs', type=int, default=100_000, help='for each program')
    parser.add_argument('--seconds', type=float, default=600.0, help='for a program at most')
    parser.add_argument('--seed', type=int, default=1)
    names = ['server', *TARGETS_BY_NAME]
    parser.add_argument('--only', nargs='*', default=names, choices=names, metavar='NAME')
    options = parser.parse_args()
    import test  # Python has a package of that name, too

    test.__path__.insert(0, str(TESTS))
    wrong = []
    for name in options.only:
        if name == 'server':
            wrong += fuzz_server(options.inputs, options.seconds, options.seed)
            continue
        wrong += fuzz(TARGETS_BY_NAME[name], options.inputs, options.seconds, options.seed)
    print(*(f'FAULT: {line}' for line in wrong), sep='\n')
    print('something is wrong' if wrong else 'no fault')
    return int(bool(wrong))


if __name__ == '__main__':
    sys.exit(main())
