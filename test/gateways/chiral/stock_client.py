# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A policy client written from the protocol page alone: it shares no code with the gateway."""

from contextlib import suppress
import struct

import msgpack
import numpy as np
from waiting import wait_until
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect


def packed(header, payload=b''):
    """Return a message: the length of its header, the header, the payload."""
    data = msgpack.packb(header)
    return struct.pack('<I', len(data)) + data + payload


class StockClient:
    """Takes the next message for the answer to its request, whatever it is, like stock ones."""

    def __init__(self, url, offer=None, **options):
        self._context = connect(
            url, compression=offer, max_size=None, proxy=None, open_timeout=60, **options
        )
        self.socket = self._context.__enter__()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._context.__exit__(None, None, None)

    def send(self, header, payload=b''):
        self.socket.send(packed(header, payload))

    def receive(self, timeout=60):
        data = self.socket.recv(timeout=timeout)
        (size,) = struct.unpack_from('<I', data, 0)
        return msgpack.unpackb(data[4 : 4 + size], raw=False), data[4 + size :]

    def ask(self, kind, **fields):
        self.send({'type': kind, **fields})
        return self.receive()

    def metadata(self):
        return self.ask('metadata')[0]['data']

    def reset(self, **fields):
        return Seen(*self.ask('reset', **fields))

    def observe(self):
        return Seen(*self.ask('obs_request'))

    def act(self, values, stamps=None, kind='apply_action'):
        array = np.asarray(values, np.float32)
        self.send(
            {
                'type': kind,
                'shape': list(array.shape),
                'dtype': 'float32',
                'obs_timestamps': stamps or {},
            },
            array.tobytes(),
        )


class Seen:
    """An observation as the page lays it out."""

    def __init__(self, header, payload):
        self.header, self.payload = header, payload
        self.type = header['type']
        self.timestamp = header['timestamp']
        self.extra = header['extra']
        self.proprios = {
            p['name']: np.frombuffer(payload[p['offset'] : p['offset'] + p['size']], p['dtype'])
            for p in header['proprios']
        }
        self.cameras = {c['name']: Camera(c, payload) for c in header['cameras']}


class Camera:
    def __init__(self, entry, payload):
        self.timestamp = entry['timestamp']
        self.intrinsics = np.array(entry['intrinsics']).reshape(3, 3)
        self.extrinsics = np.array(entry['extrinsics']).reshape(4, 4)
        self.image = self._array(entry, 'image', payload)
        self.depth = self._array(entry, 'depth', payload) if 'depth_shape' in entry else None

    @staticmethod
    def _array(entry, what, payload):
        start = entry[f'{what}_offset']
        data = payload[start : start + entry[f'{what}_size']]
        return np.frombuffer(data, entry[f'{what}_dtype']).reshape(entry[f'{what}_shape'])


def connect_when_free(url, **options):
    """Connect as soon as the driver before has gone."""

    def connected():
        with suppress(InvalidStatus):
            return StockClient(url, **options)

    return wait_until(connected, every=0.02)
