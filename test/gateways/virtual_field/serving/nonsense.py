# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Messages that are nearly right, and what a program does that sends them to a gateway."""

import json
import random
import threading

from test.gateways.serving.raw_peer import BINARY
from test.gateways.serving.raw_peer import frame
from test.gateways.serving.raw_peer import opened
from test.gateways.virtual_field.protocol.test_publishing import glb
from test.gateways.virtual_field.protocol.test_xr_input import SAMPLE

TOKENS = (
    b'null', b'true', b'-1', b'1e308', b'""', b'[]', b'{}', b'[[[[', b'"\\u0000"', b'NaN',
    b'1e999', b'"x"', b'\xff', b',', b'18446744073709551616', b'[1,2]', b'0.0',
)  # fmt: skip
TEXT = 0x81  # first byte of a frame
CONNECTIONS = 2
A_CONNECTION = 500  # frames
AT_ONCE = 50
# Of a message that is answered when all before it were read.
LAST = 9876543210
ANSWER = b'unsupported protocol version %d' % LAST


def messages():
    """Yield one message of each kind."""
    points = {'overlay_id': 'p', 'points': [[1, 2, 3]], 'point_size': 0.1}
    mesh = {'mesh_id': 'm', 'mesh_data_b64': glb().hex(), 'translation': [1, 2, 3]}
    for kind, payload in (
        ('hello', {'role': 'vr_client', 'character_mode': 'two-cr', 'extensions': ['binary']}),
        ('hello', {'role': 'publisher'}),
        ('xr_input', SAMPLE),
        ('add_mesh', mesh),
        ('update_mesh_transform', mesh),
        ('update_overlay_points', points),
        ('heartbeat', {}),
    ):
        yield json.dumps({'version': 1, 'type': kind, 'payload': payload}).encode()


def spoiled(rng, seeds):
    """Return a message with some of its bytes or values replaced."""
    data = bytearray(rng.choice(seeds))
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data))
        way = rng.randrange(4)
        if way == 0:
            data[at] = rng.randrange(256)
        elif way == 1:
            data[at : at + rng.randint(1, 12)] = rng.choice(TOKENS)
        elif way == 2:
            del data[at : at + rng.randint(1, 40)]
            data += b' '
        else:
            data[at:at] = data[at : at + rng.randint(1, 30)]
    return bytes(data)


def send(port, rng, count):
    """Send so many over one connection; return when the gateway has read them all."""
    seeds = list(messages())
    with opened(port) as link:
        read = threading.Event()

        def listen():
            tail = b''
            while ANSWER not in tail:
                data = link.recv(1 << 18)
                if not data:
                    raise SystemExit('the gateway has ended a connection')
                tail = tail[-len(ANSWER) :] + data
            read.set()

        listener = threading.Thread(target=listen)
        listener.start()
        for begin in range(0, count, AT_ONCE):
            some = (spoiled(rng, seeds) for _ in range(min(AT_ONCE, count - begin)))
            link.sendall(b''.join(frame(data, BINARY) for data in some))
        last = {'version': LAST, 'type': 'x', 'payload': {}}
        # As text: one of the binary ones may have asked for the extension of the page.
        link.sendall(frame(json.dumps(last).encode(), TEXT))
        listener.join()
        return read.is_set()


def main(port, count):
    """Send so many over several connections, and print how many were read."""
    sent = [0] * CONNECTIONS

    def run(index):
        rng = random.Random(index)
        while sent[index] < count // CONNECTIONS:
            size = min(A_CONNECTION, count // CONNECTIONS - sent[index])
            if not send(port, rng, size):
                return
            sent[index] += size

    threads = [threading.Thread(target=run, args=(index,)) for index in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(sum(sent), flush=True)
