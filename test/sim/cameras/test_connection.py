# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The server's end of the link never waits for a renderer that hangs or has died."""

import json
import socket

import pytest

from urlab_ros_bridge.sim.cameras import connection as link
from urlab_ros_bridge.sim.cameras.connection import Capture
from urlab_ros_bridge.sim.cameras.connection import JobMemory
from urlab_ros_bridge.sim.cameras.connection import RendererConnection

NOW = Capture(1, 1, 0, 0.0)


MANY = 3000  # more than any queue has room for


@pytest.fixture
def ends():
    """Return the server's end of a link, and the renderer's."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    memory = JobMemory(8)
    theirs.setblocking(False)
    yield RendererConnection(ours, memory, [3, 2]), theirs
    ours.close()
    theirs.close()
    memory.close()


def received(theirs):
    """Return what waits: kind and content."""
    found = []
    while True:
        try:
            kind, body, fds = link.receive(theirs)
        except BlockingIOError:
            return found
        found.append((kind, link.from_file(fds[0]) if fds else body))


def test_a_hanging_renderer_blocks_nobody_and_then_gets_the_newest_messages(ends):
    connection, theirs = ends
    for number in range(MANY):
        connection.tell(link.OVERLAYS, f'[{number}]'.encode())
        connection.tell(link.ARRAYS, f'array {number}'.encode())
        connection.tell_readers([number])
    assert not connection.post(b'12345678', NOW, [0])
    early = received(theirs)
    assert 0 < len(early) < 3 * MANY
    assert connection.post(b'12345678', NOW, [0])
    late = received(theirs)
    assert late[-1][0] == link.JOB
    newest = dict(early + late)
    assert json.loads(newest[link.OVERLAYS]) == json.loads(newest[link.READERS]) == [MANY - 1]
    assert newest[link.ARRAYS] == f'array {MANY - 1}'.encode()


def test_messages_to_a_dead_renderer_are_dropped(ends):
    connection, theirs = ends
    theirs.close()
    connection.tell(link.OVERLAYS, b'[]')
    connection.tell_readers([0])
    assert not connection.post(b'12345678', NOW, [0])


def test_waiting_requests_for_frames_end_when_the_renderer_dies(ends):
    connection, _ = ends
    future = connection.ask(b'12345678', NOW, [0])
    connection.close()
    assert future.result(0) == {}
