# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Hostile peers of a gateway, hundreds of them at once, in front of the program itself.

A driver works through all of it on one connection.  Every attack is counted, and so is what became
of it; in the end the program has the threads, files and memory that it began with, and has logged
no traceback.
"""

from collections import Counter
import contextlib
import random
import socket
import struct
import time

import msgpack
import pytest

from test.gateways.chiral.programs import Programs
from test.gateways.chiral.stock_client import StockClient
from test.gateways.serving.raw_peer import BINARY
from test.gateways.serving.raw_peer import CLOSE
from test.gateways.serving.raw_peer import dial
from test.gateways.serving.raw_peer import flood
from test.gateways.serving.raw_peer import frame
from test.gateways.serving.raw_peer import opened
from test.gateways.serving.raw_peer import opening
from test.gateways.serving.raw_peer import rest
from urlab_ros_bridge.gateways.serving.websocket_server import CLOSE_SECONDS

EACH, LONG = 12, 50  # attacks of a kind; with --long
GROWTH_MB = 40.0
# What the two kernels hold between a sender and a reader, at most.
BUFFERS = 16 << 20
VIEW = '/view?token=s3cret'

# What bad HTTP may lead to; what is no HTTP gets no answer.
BAD_HTTP = ('400', '401', '403', '405', '426', '431', '101', '505', 'nothing')


class Attackers:
    """
    One method for each attack; each returns what became of it.

    :ivar held: sockets that are kept, so that the gateway has to end them.
    """

    def __init__(self, port, seed):
        self.random = random.Random(seed)
        self.port = port
        self.held = []
        self.counts = Counter()

    def kinds(self):
        return [name for name in vars(type(self)) if name.startswith('attack_')]

    def run(self, kind):
        try:
            result = getattr(self, kind)()
        except (ConnectionError, TimeoutError) as error:
            result = type(error).__name__
        self.counts[kind] += 1
        self.counts[kind, result] += 1

    def attack_bad_http(self):
        data = bytearray(opening(VIEW, 'Origin: http://localhost', 'Authorization: Bearer x'))
        for _ in range(self.random.randint(1, 6)):
            data[self.random.randrange(len(data))] = self.random.choice(b'\x00\r\n [/:%\xff')
        with dial(self.port) as link:
            link.sendall(data)
            return link.recv(4096)[9:12].decode() or 'nothing'

    def attack_noise(self):
        with dial(self.port) as link:
            link.sendall(self.random.randbytes(self.random.randint(0, 30_000)))
            link.shutdown(socket.SHUT_WR)
            return rest(link)[9:12].decode() or 'nothing'

    def attack_early_leaver(self):
        request = opening(VIEW)
        link = dial(self.port)
        link.sendall(request[: self.random.randint(0, len(request))])
        if self.random.random() < 0.5:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        link.close()
        return 'left'

    def attack_half_open(self):
        link = dial(self.port)
        link.sendall(opening(VIEW)[: self.random.randint(0, 60)])
        return self.hold(link)

    def attack_wrong_token(self):
        path = self.random.choice(['/', '/view', '/?token=', '/?token=s3cre', '/view?token=%ff'])
        with dial(self.port) as link:
            link.sendall(opening(path))
            return rest(link)[9:12].decode()

    def attack_foreign_page(self):
        with dial(self.port) as link:
            link.sendall(opening(VIEW, 'Origin: https://example.org'))
            return rest(link)[9:12].decode()

    def attack_second_driver(self):
        with dial(self.port) as link:
            link.sendall(opening('/?token=s3cret', f'Urlab-Client-Id: {self.random.random()}'))
            return rest(link)[9:12].decode()

    def attack_random_frames(self):
        with self.viewer() as link:
            link.sendall(self.random.randbytes(self.random.randint(1, 5000)))
            link.shutdown(socket.SHUT_WR)
            rest(link)
            return 'ended'

    def attack_mutated_message(self):
        packed = msgpack.packb({'type': 'obs_request', 'x': [1, 2.0, None]})
        data = bytearray(struct.pack('<I', len(packed)) + packed)
        for _ in range(self.random.randint(1, 4)):
            data[self.random.randrange(len(data))] = self.random.randrange(256)
        with self.viewer() as link:
            link.sendall(frame(bytes(data)) + frame(b'\x03\xe8', CLOSE))
            return 'answered' if rest(link)[:1] == b'\x82' else 'closed'

    def attack_flood_after_close(self):
        with self.viewer() as link:
            link.sendall(bytes((BINARY, 0xFF)) + struct.pack('!Q', 1 << 40))
            flood(link, frame(b'x' * 60_000))
            return 'cut off'

    def attack_never_answers_the_close(self):
        link = self.viewer()
        link.sendall(self.random.choice([frame(b'what'), b'\x82\x01x', frame(b'\x03\xe8', CLOSE)]))
        return self.hold(link)

    def attack_never_reads(self):
        link = self.viewer()
        link.settimeout(0.05)
        packed = msgpack.packb({'type': 'obs_request'})
        ask = frame(struct.pack('<I', len(packed)) + packed)
        with contextlib.suppress(TimeoutError):
            for _ in range(20):
                link.sendall(ask * 50)
        link.close()
        return 'left'

    def viewer(self):
        """Return a connection of a viewer, as soon as the gateway has room for one."""
        deadline = time.monotonic() + 30
        while True:
            try:
                return opened(self.port, VIEW)
            except AssertionError as error:
                if ' 503 ' not in str(error) or time.monotonic() > deadline:
                    raise
                self.counts['waits'] += 1
                time.sleep(0.05)

    def hold(self, link):
        self.held.append(link)
        return 'held'

    def wait_for_ends(self):
        """Wait until the gateway has ended each connection that was left to it."""
        while self.held:
            with self.held.pop() as link:
                link.settimeout(30)
                rest(link)


@pytest.mark.slow
def test_a_gateway_outlives_its_attackers(tmp_path, monkeypatch, request):
    each = LONG if request.config.getoption('long') else EACH
    # Memory that each thread keeps for itself would hide a leak.
    monkeypatch.setenv('MALLOC_ARENA_MAX', '1')
    words = ['--pace=lockstep', '--viewers', '--token=s3cret', '--log-level=debug']
    programs = Programs(tmp_path, 'quadruped', *words)
    try:
        with StockClient(f'{programs.url}/?token=s3cret') as driver:
            start = driver.reset().proprios['joint_pos']
            attackers = Attackers(programs.port, 2026)
            attack(attackers, attackers.kinds() * 2, driver, start)  # what is made once, is now
            attackers.wait_for_ends()
            before = settled(programs)
            steps = attack(attackers, attackers.kinds() * each, driver, start)
            attackers.wait_for_ends()
            after = settled(programs, before)
        judge(attackers.counts, steps, each)
    finally:
        assert programs.stop() == 0
    assert 'Traceback' not in programs.logged()
    assert after['threads'] <= before['threads'] and after['files'] <= before['files']
    assert after['memory'] - before['memory'] < GROWTH_MB


def attack(attackers, kinds, driver, target):
    """Run the attacks in a random order; the driver acts all the while.  Return its steps."""
    attackers.random.shuffle(kinds)
    stamp = driver.observe().timestamp
    for count, kind in enumerate(kinds):
        attackers.run(kind)
        if count % 5 == 0:
            driver.act(target)
            now = driver.observe().timestamp
            assert now > stamp
            stamp = now
    return len(kinds) // 5


def settled(programs, wanted=None):
    """
    Wait until the gateway has ended what it has to end; return what it holds.

    :param wanted: what it should hold, as soon as it holds no more; None: what it holds unchanged
        for longer than a close may take.
    """
    deadline, now, since = time.monotonic() + 40, None, 0.0
    while time.monotonic() < deadline:
        before, now = now, {'threads': programs.threads(), 'files': programs.descriptors()}
        since = since if now == before else time.monotonic()
        if wanted is None and time.monotonic() - since > 1.5 * CLOSE_SECONDS:
            break
        if wanted is not None and all(now[name] <= wanted[name] for name in now):
            break
        time.sleep(0.2)
    return {**now, 'memory': programs.memory_mb()}


def judge(counts, steps, each):
    """State what has to become of each attack."""
    assert steps >= each * 12 // 5 - 1
    for kind in ('attack_wrong_token', 'attack_foreign_page', 'attack_second_driver'):
        expected = {'wrong': '401', 'foreign': '403', 'second': '503'}[kind.split('_')[1]]
        assert counts[kind, expected] == counts[kind] > each
    assert counts['attack_flood_after_close', 'cut off'] == counts['attack_flood_after_close']
    assert counts['attack_never_answers_the_close', 'held'] > each
    assert counts['attack_half_open', 'held'] > each
    assert counts['attack_random_frames', 'ended'] > each
    assert counts['attack_mutated_message', 'closed'] > counts['attack_mutated_message'] // 3
    bad = sum(counts['attack_bad_http', status] for status in BAD_HTTP)
    assert bad > each * 0.8
    refused = counts['attack_bad_http', '400'] + counts['attack_bad_http', 'nothing']
    assert refused > each // 4
