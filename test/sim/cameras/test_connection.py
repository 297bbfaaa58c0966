# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The server's end of the connection never waits for a renderer that hangs."""

import json
import socket

from urlab_ros_bridge.sim.cameras import messages
from urlab_ros_bridge.sim.cameras.connection import RendererConnection
from urlab_ros_bridge.sim.cameras.jobs import Capture
from urlab_ros_bridge.sim.cameras.jobs import JobMemory

NOW = Capture(1, 1, 0, 0.0)


MANY = 3000  # more than any queue has room for


def received(theirs):
    """Return what waits: kind and content."""
    found = []
    while True:
        try:
            kind, body, fds = messages.receive(theirs)
        except BlockingIOError:
            return found
        found.append((kind, messages.from_file(fds[0]) if fds else body))


def test_a_hanging_renderer_blocks_nobody_and_then_gets_the_newest_messages(keep):
    ours, theirs = map(keep, socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET))
    theirs.setblocking(False)
    connection = RendererConnection(ours, keep(JobMemory(8)), [3, 2])
    for number in range(MANY):
        connection.tell(messages.OVERLAYS, f'[{number}]'.encode())
        connection.tell(messages.ARRAYS, f'array {number}'.encode())
        connection.tell_readers([number])
    assert not connection.post(b'12345678', NOW, [0])
    early = received(theirs)
    assert 0 < len(early) < 3 * MANY
    assert connection.post(b'12345678', NOW, [0])
    late = received(theirs)
    assert late[-1][0] == messages.JOB
    newest = dict(early + late)
    assert (
        json.loads(newest[messages.OVERLAYS]) == json.loads(newest[messages.READERS]) == [MANY - 1]
    )
    assert newest[messages.ARRAYS] == f'array {MANY - 1}'.encode()
    waiting = connection.post(b'12345678', NOW, [0], [0], streamed=False)
    connection.close()
    assert waiting.result(0) == {}
