# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Peers that send what nobody should, one input after another."""

import random
import struct

from test.gateways.simspark.peers import RawPeer
from urlab_ros_bridge.gateways.simspark.wire.framing import frame

COMMANDS = [
    '(agent (unum 1)(team Left)(pos 1 2 0.5)(move 1 2 0.5 90)(battery 5)(temperature 6))',
    '((ball (pos 0 0 0.5)(vel 1 0 0))(getAck moved))', '(playMode PlayOn)', '(dropBall)',
    '(kickOff Left)', '(select (unum 1)(team Right))', '(repos (unum 1)(team Right))', '(time 3)',
    '(score (left 1)(right 2))', '(reqfullstate)', '(kil)', '(init (unum 1)(teamname a))',
    '(scene rsg/agent/nao/nao.rsg)', '(he1 0.5)(lae3 -0.2)(syn)', '(beam -1 0 30)', '(say hello)',
]  # fmt: skip
ATOMS = [
    'nan', 'inf', '-inf', '1e999', '-1', '0', '99999999999999999999', '0x10', 'Left', 'None', '"',
    'agent', 'ball', 'pos', 'vel', 'move', 'unum', 'team', 'time', 'score', 'select', '\x00', 'é',
]  # fmt: skip


def _bytes(random):
    return random.randbytes(random.randrange(200))


def _mutated(random):
    text = bytearray(random.choice(COMMANDS).encode())
    for _ in range(random.randrange(1, 5)):
        text[random.randrange(len(text))] = random.choice(b'()"  0123456789.-\x00\xff')
    return frame(bytes(text))


def _expression(random):
    parts = [random.choice([*ATOMS, '(', ')', '(', ')', ' ']) for _ in range(random.randrange(40))]
    return frame(' '.join(parts).encode('utf-8'))


def _numbers(random):
    """A command whose numbers are none."""
    text = random.choice(COMMANDS)
    for digit in '0123456789':
        if random.random() < 0.3:
            text = text.replace(digit, random.choice(ATOMS))
    return frame(text.encode('utf-8'))


def _length(random):
    return struct.pack('>I', random.choice([1 << 16, 1 << 31, 0xFFFFFFFC, 0xFFFFFFFF, 65537]))


def _deep(random):
    return frame(random.choice([b'(', b')', b'()', b'(a ']) * random.randrange(1, 4000))


def _empty(random):
    return frame(b'') * random.randrange(1, 60)


def _http(random):
    return b'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'


def _half(random):
    whole = frame(random.choice(COMMANDS).encode())
    return whole[: random.randrange(1, len(whole))]


KINDS = (_bytes, _mutated, _expression, _numbers, _length, _deep, _empty, _http, _half)
WEIGHTS = (1, 6, 6, 6, 1, 2, 1, 1, 1)


def attack(ports, count, seed):
    """Send so many inputs to the ports in turn; a connection ends in one of three ways."""
    chance = random.Random(seed)
    sent = 0
    while sent < count:
        peer = RawPeer(chance.choice(ports))
        try:
            for _ in range(min(chance.randrange(1, 60), count - sent)):
                (kind,) = chance.choices(KINDS, WEIGHTS)
                peer.socket.sendall(kind(chance))
                sent += 1
        except (BrokenPipeError, ConnectionResetError):
            sent += 1  # the gateway has closed it
        peer.reset() if chance.random() < 0.5 else peer.close()
    return sent
