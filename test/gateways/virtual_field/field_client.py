# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A client of the protocol that shares no code with the gateway."""

from contextlib import ExitStack
import json
import time

from websockets.sync.client import connect

PATIENCE = 60.0
IDENTITY = [0.0, 0.0, 0.0, 1.0]


class FieldClient(ExitStack):
    """
    One client.

    :ivar ack: payload of the last hello_ack; `manifest` likewise.
    :ivar assets: mesh id -> how often its data came.
    """

    def __init__(self, url, role=None, **hello):
        super().__init__()
        self.url = url
        # Nobody waits for the end of the closing handshake: the socket may be full of scenes.
        options = {'max_size': None, 'close_timeout': 0.1, 'ping_interval': None}
        self.socket = self.enter_context(connect(url.replace('http', 'ws', 1), **options))
        self.assets = {}
        self.ack = self.manifest = None
        if role is not None:
            self.hello(role, **hello)

    def send(self, kind, payload=None):
        self.socket.send(json.dumps({'version': 1, 'type': kind, 'payload': payload or {}}))

    def hello(self, role, **fields):
        """Say hello; arms that a user has just left are waited for."""
        deadline = time.monotonic() + PATIENCE
        self.send('hello', {'role': role, **fields})
        while (answer := self._receive_answer())[0] != 'hello_ack':
            assert answer[1]['reason'].startswith('no free arm'), answer
            assert time.monotonic() < deadline
            time.sleep(0.05)
            self.send('hello', {'role': role, **fields})
        self.ack = answer[1]
        if role != 'publisher':
            self.manifest = self.answer('asset_manifest')
        return self.ack

    def receive(self):
        """Return type and payload of the next message."""
        message = json.loads(self.socket.recv(timeout=PATIENCE), parse_constant=_refuse)
        assert message.keys() == {'version', 'type', 'payload'}
        assert message['version'] == 1 and type(message['version']) is int
        kind, payload = message['type'], message['payload']
        if kind == 'scene_state':
            for mesh_id, mesh in payload['meshes'].items():
                self.assets[mesh_id] = self.assets.get(mesh_id, 0) + ('asset_uri' in mesh)
        return kind, payload

    def answer(self, kind):
        """Return the next payload that is no scene_state; it must be of `kind`."""
        got, payload = self._receive_answer()
        assert got == kind, (got, payload)
        return payload

    def _receive_answer(self):
        deadline = time.monotonic() + PATIENCE
        kind, payload = self.receive()
        while kind == 'scene_state':
            assert time.monotonic() < deadline, 'scenes arrive, and no answer'
            kind, payload = self.receive()
        return kind, payload

    def error(self):
        reason = self.answer('error')
        assert reason.keys() == {'reason'}
        return reason['reason']

    def scene(self, wanted=lambda scene: True):
        """Return the next scene that satisfies a condition."""
        deadline = time.monotonic() + PATIENCE
        while True:
            kind, payload = self.receive()
            assert kind == 'scene_state', (kind, payload)
            if wanted(payload):
                return payload
            assert time.monotonic() < deadline, 'no such scene'

    def newest(self):
        """Return the newest scene, which a new client gets first."""
        with FieldClient(self.url, 'spectator') as other:
            return other.scene()

    def steer(self, stamp, **hands):
        """Send an xr_input; each hand is a dict of fields, `at` its translation."""
        controllers = {}
        for hand, fields in hands.items():
            fields = dict(fields)
            pose = {
                'translation': list(fields.pop('at', [0.0, 1.0, 0.0])),
                'rotation_xyzw': list(fields.pop('turned', IDENTITY)),
            }
            controllers[hand] = {'pose': pose, **fields}
        head = {'translation': [0.0, 1.6, 0.0], 'rotation_xyzw': IDENTITY}
        self.send('xr_input', {'timestamp': stamp, 'head_pose': head, 'controllers': controllers})


def _refuse(constant):
    raise AssertionError(f'{constant} is not JSON')
