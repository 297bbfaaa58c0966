# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A TCP proxy that injects faults, reproducible by a seed: the same for every protocol.

A network can only delay and cut a TCP stream; the other faults change the stream, as a broken
middlebox does, and a server has to survive those as well.
"""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import random
import socket
import threading
import time

KINDS = ('delay', 'drop', 'duplicate', 'reorder', 'truncate', 'cut', 'stall')
# Those that change no data; the others are no faults of TCP.
HONEST = ('delay', 'cut', 'stall')
_RATE, _PIECE = 0.2, 1 << 16  # share of the pieces that is harmed, their bytes


class FaultProxy:
    """
    Relays connections to a port, and harms what it relays while it is `harmed`.

    :ivar port: where it listens.
    :ivar target: the port that the next connections are relayed to.
    :ivar harmed_until: monotonic s; until then its clients may get what was never sent.
    """

    def __init__(self, target: int, seed: int) -> None:
        self.target = target
        self._random = random.Random(seed)
        self._fault = ''
        self.harmed_until = 0.0
        self._links: set[socket.socket] = set()
        self._listener = socket.create_server(('127.0.0.1', 0), backlog=128)
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @contextlib.contextmanager
    def harmed(self, kind: str) -> Iterator[None]:
        """Harm what is relayed; then end connections that make no sense any more."""
        self._fault = kind
        self.harmed_until = 0.0 if kind in HONEST else float('inf')
        try:
            yield
        finally:
            self._fault = ''
            if kind != 'delay':
                self._cut()
            self.harmed_until = 0.0 if kind in HONEST else time.monotonic() + 1.0

    def close(self) -> None:
        """Cut everything off."""
        self._listener.close()
        self._cut()

    def _cut(self) -> None:
        for link in list(self._links):
            _end(link)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # closed
            while True:
                near, _ = self._listener.accept()
                try:
                    far = socket.create_connection(('127.0.0.1', self.target), 5)
                except OSError:
                    near.close()
                    continue
                far.settimeout(None)
                for link in (near, far):
                    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    self._links.add(link)
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=self._relay, args=pair, daemon=True).start()

    def _relay(self, source: socket.socket, target: socket.socket) -> None:
        held = b''
        with contextlib.suppress(OSError):
            while data := source.recv(_PIECE):
                fault = self._fault if self._random.random() < _RATE else ''
                if fault == 'cut':
                    break
                if fault == 'reorder':
                    held += data  # until after the next piece
                    continue
                while self._fault == 'stall':  # nobody reads, of whatever connection
                    time.sleep(0.01)
                if fault == 'delay':
                    time.sleep(self._random.uniform(0.01, 0.3))
                elif fault == 'drop':
                    data = b''
                elif fault == 'duplicate':
                    data += data
                elif fault == 'truncate':
                    data = data[: self._random.randrange(len(data))]
                target.sendall(data + held)
                held = b''
        for link in (source, target):
            _end(link)
            self._links.discard(link)
            link.close()


def _end(link: socket.socket) -> None:
    with contextlib.suppress(OSError):
        link.shutdown(socket.SHUT_RDWR)
