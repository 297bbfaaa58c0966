# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Hostile requests to a step server over ZeroMQ: several clients, many requests on their way at once.

The frames are those of `bench/fuzz.py`, which also writes into shared memory and waits there.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
import sys
import threading
import time
from typing import Any

import zmq

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'bench'))

from fuzz_frames import Fuzz

from urlab_ros_bridge.wire.encoding import codec
from urlab_ros_bridge.wire.errors import ERROR_CODES
from urlab_ros_bridge.wire.errors import WireError

CLIENTS = 4
WINDOW = 16  # requests of a client on their way: four times as many as it may have waiting
RESUME_EVERY = 50  # frames
SECONDS = 300.0  # for any reply, on a busy machine
_TIDY = (
    ('set_paused', {'paused': False}),
    ('recording_stop', {}),
    ('recording_clear', {}),
    ('replay_stop', {}),
    ('set_sim_speed', {'percent': 100}),
    ('randomize', {'restore': True}),
    ('clear_markers', {}),
    ('set_mode', {'mode': 'direct'}),
    ('reset', {}),
)


class Refused(Exception):
    """The server has answered with something that no client understands, or not at all."""


class StepServerAttack:
    """
    Clients that stay connected from one portion to the next.

    :ivar answers: how often each op or error code came.
    """

    def __init__(self, port: int, seed: int) -> None:
        self._place = f'tcp://127.0.0.1:{port}'
        self._fuzz = Fuzz(seed)
        self._zmq = zmq.Context()
        self._asker = self._socket(zmq.REQ)
        self._clients = [self._socket(zmq.DEALER) for _ in range(CLIENTS)]
        self._poller = zmq.Poller()
        for client in self._clients:
            self._poller.register(client, zmq.POLLIN)
        self._waiting = dict.fromkeys(self._clients, 0)
        self.answers: Counter[str] = Counter()
        self._session = self.ask('hello', shared=True)['session_id']
        self._options = self.ask('set_sim_options', options={}).get('options', {})

    def _socket(self, kind: int) -> zmq.Socket:
        socket = self._zmq.socket(kind)
        socket.linger = 0
        socket.rcvtimeo = int(SECONDS * 1000)
        socket.connect(self._place)
        return socket

    def ask(self, op: str, **fields: Any) -> dict[str, Any]:
        """Send a request of our own that is as it should be; say hello when that is asked for."""
        if op != 'hello':
            fields['session_id'] = self._session
        self._asker.send(codec.pack({'op': op, **fields}))
        reply = codec.unpack(self._asker.recv(), 1 << 30)
        if reply.get('code') == 'session_expired':
            self._session = self.ask('hello', shared=True)['session_id']
            return self.ask(op, **fields)
        return reply

    def send(self, count: int) -> None:
        """
        Send so many frames, receive all replies, and undo what would only slow the rest down.

        :raises Refused: when one of the replies is none.
        :raises zmq.Again: when none comes.
        """
        for number in range(count):
            client = self._clients[number % CLIENTS]
            while self._waiting[client] >= WINDOW:
                self._receive()
            client.send_multipart([b'', self._fuzz.frame(self._session)])
            self._waiting[client] += 1
            if number % RESUME_EVERY == 0:
                # One of them pauses time sooner or later; then each step waits for five seconds.
                self.ask('set_paused', paused=False)
        while any(self._waiting.values()):
            self._receive()
        for op, fields in _TIDY:
            self.ask(op, **fields)
        self.ask('set_sim_options', options=self._options)
        status = self.ask('status')
        if status.get('op') != 'status_ok' or status.get('fault'):
            raise Refused(f'status: {status}')

    def _receive(self) -> None:
        ready = dict(self._poller.poll(int(SECONDS * 1000)))
        if not ready:
            raise Refused(f'no reply for {SECONDS:g} s')
        for client in ready:
            while True:
                try:
                    reply = client.recv_multipart(zmq.NOBLOCK)[-1]
                except zmq.Again:
                    break
                self._waiting[client] -= 1
                self._judge(reply)

    def _judge(self, reply: bytes) -> None:
        try:
            message = codec.unpack(reply, 1 << 30)
        except WireError as error:
            raise Refused(f'a reply that is none: {error}') from error
        answer = message.get('op')
        if answer == 'error':
            answer = code = message.get('code')
            if set(message) != {'op', 'code', 'message'} or code not in ERROR_CODES:
                raise Refused(f'an error reply that is none: {message}')
            if code == 'internal_error':
                raise Refused('internal_error')
        elif not isinstance(answer, str) or not answer.endswith('_ok'):
            raise Refused(f'a reply with op {answer!r:.80}')
        self.answers[answer] += 1

    def close(self) -> None:
        """Disconnect."""
        self._zmq.destroy(linger=0)


class GoodClient(threading.Thread):
    """
    Somebody who asks for the status, ten times a second at most, while others attack.

    :ivar waits: how long each answer took, s.
    :ivar wrong: what went wrong, '' when nothing did.
    """

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self._place = f'tcp://127.0.0.1:{port}'
        self._end = threading.Event()
        self.waits: list[float] = []
        self.wrong = ''

    def run(self) -> None:
        """Ask until `end`."""
        with zmq.Context() as context, context.socket(zmq.REQ) as socket:
            socket.linger, socket.rcvtimeo = 0, int(SECONDS * 1000)
            socket.connect(self._place)
            session = ''
            while not self._end.wait(0.1):
                began = time.monotonic()
                # After a spawn of others the handshake is out of date, and sessions expire.
                asked = {'op': 'status', 'session_id': session}
                socket.send(codec.pack(asked if session else {'op': 'hello', 'shared': True}))
                try:
                    reply = codec.unpack(socket.recv(), 1 << 30)
                except zmq.Again:
                    self.wrong = f'no answer for {SECONDS:g} s'
                    return
                self.waits.append(time.monotonic() - began)
                if reply.get('op') == 'hello_ok':
                    session = reply['session_id']
                elif reply.get('code') == 'session_expired':
                    session = ''
                elif reply.get('op') != 'status_ok':
                    self.wrong = f'status: {reply}'
                    return

    def end(self) -> str:
        """Stop asking; return what went wrong."""
        self._end.set()
        self.join(SECONDS)
        if self.is_alive():
            return 'no status'
        return self.wrong or ('' if self.waits else 'it was never served')
