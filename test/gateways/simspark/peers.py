# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A client that sends and receives raw messages, valid or not."""

import socket

from urlab_ros_bridge.gateways.simspark.wire.framing import frame
from urlab_ros_bridge.gateways.simspark.wire.framing import FrameReader
from urlab_ros_bridge.gateways.simspark.wire.framing import MAX_SCENE

PATIENCE = 60.0  # s; the machine may be busy


class RawPeer:
    def __init__(self, port, receive_buffer=None):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(('127.0.0.1', port))
        self._reader = FrameReader(MAX_SCENE)
        self._ready = []

    def send(self, text):
        """Send one message."""
        self.socket.sendall(frame(text.encode() if isinstance(text, str) else text))

    def receive(self):
        """Return the next message as text, None at the end of the stream."""
        while not self._ready:
            try:
                data = self.socket.recv(1 << 16)
            except ConnectionResetError:
                return None
            if not data:
                return None
            self._ready = self._reader.feed(data)
        return self._ready.pop(0).decode('ascii')

    def receive_until(self, wanted):
        """Return the first message that satisfies `wanted`."""
        while (text := self.receive()) is not None:
            if wanted(text):
                return text
        raise AssertionError('the connection has ended')

    def close(self):
        self.socket.close()
