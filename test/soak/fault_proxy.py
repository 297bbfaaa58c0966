# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A TCP proxy that injects faults, reproducible by a seed: the same for every protocol.

A network can only delay and cut a TCP stream; the other faults change the stream, as a broken
middlebox does, and a server has to survive those as well.
"""

from __future__ import annotations

import contextlib
import random
import socket
import threading
import time

KINDS = ('delay', 'drop', 'duplicate', 'reorder', 'truncate', 'cut')
_PIECE = 4096


class FaultProxy:
    """
    Relays connections to a port; `fault` says what happens to what it relays.

    :ivar port: where it listens.
    :ivar target: the port that the next connections are relayed to.
    :ivar fault: one of `KINDS`, or empty.
    :ivar done: how many pieces were harmed, by kind.
    """

    def __init__(self, target: int, seed: int, rate: float = 0.2, piece: int = _PIECE) -> None:
        self.target, self._rate, self._piece = target, rate, piece
        self._random = random.Random(seed)
        self.fault = ''
        self.done: dict[str, int] = dict.fromkeys(KINDS, 0)
        self._links: set[socket.socket] = set()
        self._listener = socket.create_server(('127.0.0.1', 0), backlog=128)
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Cut everything off."""
        self._listener.close()
        self.cut()

    def cut(self) -> None:
        """End all connections."""
        for link in list(self._links):
            _end(link)

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
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
        try:
            while data := source.recv(self._piece):
                fault = self.fault
                if not fault or self._random.random() > self._rate:
                    target.sendall(held + data if fault != 'reorder' else data + held)
                    held = b''
                    continue
                self.done[fault] += 1
                if fault == 'delay':
                    time.sleep(self._random.uniform(0.01, 0.3))
                    target.sendall(data)
                elif fault == 'duplicate':
                    target.sendall(data + data)
                elif fault == 'reorder':
                    held += data  # until after the next piece
                elif fault == 'truncate':
                    target.sendall(data[: self._random.randrange(len(data))])
                elif fault == 'cut':
                    break
        except OSError:
            pass
        for link in (source, target):
            _end(link)
            self._links.discard(link)
            link.close()


def _end(link: socket.socket) -> None:
    with contextlib.suppress(OSError):
        link.shutdown(socket.SHUT_RDWR)
