# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The server's end of the link never waits, and the renderer knows the newest before it draws."""

import json
import socket

import pytest

from urlab_ros_bridge.sim.cameras import connection as link
from urlab_ros_bridge.sim.cameras.connection import Capture
from urlab_ros_bridge.sim.cameras.connection import Frame
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


def test_a_renderer_that_hangs_holds_up_nobody_and_gets_the_newest_when_it_goes_on(ends):
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


def test_waiting_counts_what_is_not_done(ends):
    connection, _ = ends
    assert connection.waiting == 0
    connection.post(b'12345678', NOW, [0])
    connection.post(b'12345678', NOW, [0])
    assert connection.waiting == 2 and connection.busy
    connection.memory.control[JobMemory.DONE] += 1
    assert connection.waiting == 1 and not connection.busy


@pytest.mark.parametrize('period', [0.001, 0.002, 0.02])
@pytest.mark.parametrize('takes', [[0.0005], [0.005], [0.014], [0.07], [0.005, 0.03]])
def test_no_state_gets_old_and_the_renderer_rests_for_a_tick_at_most(ends, period, takes):
    """Simulate a renderer that gets whatever state it has time for; jobs take turns in length."""
    connection, theirs = ends
    control = connection.memory.control
    jobs, begins, ends_at, usual = [], [], [], {}
    for tick in range(1, 2000):
        now = 1000.0 + tick * period
        # What the renderer has done since the tick before.
        while len(begins) < len(jobs) or len(ends_at) < len(begins):
            if len(ends_at) < len(begins):
                kind = len(ends_at) % len(takes)
                end = begins[-1] + takes[kind]
                if end > now:
                    break
                ends_at.append(end)
                usual[kind] = takes[kind]
                control[JobMemory.DONE] += 1
            else:
                begins.append(max(jobs[len(begins)], ends_at[-1] if ends_at else 0.0))
                expected = begins[-1] + usual.get((len(begins) - 1) % len(takes), 0.0)
                control[JobMemory.EXPECTED] = round(expected * 1e9)
                control[JobMemory.BEGUN] += 1
        if connection.has_time(now, period):
            assert connection.post(b'12345678', NOW, [0])
            jobs.append(now)
            link.receive(theirs)
    waited = [begin - job for begin, job in zip(begins, jobs, strict=False)]
    rested = [begin - end for begin, end in zip(begins[1:], ends_at, strict=False)]
    learned = 3 * len(takes)
    slack = 1e-6
    assert len(begins) > 20
    assert max(waited[learned:]) <= period + slack
    assert max(rested[learned:]) <= period + slack


def test_a_renderer_without_a_processor_or_late_gets_no_second_state(ends):
    connection, _ = ends
    control = connection.memory.control
    assert connection.has_time(50.0, 0.002)
    connection.post(b'12345678', NOW, [0])
    assert not connection.has_time(50.0, 0.002)  # it has not begun
    control[JobMemory.EXPECTED] = 50_000_000_000
    control[JobMemory.BEGUN] += 1
    allowed = [connection.has_time(50.0 + late, 0.002) for late in (-0.01, -0.001, 0.001, 0.01)]
    assert allowed == [False, True, True, False]
    connection.post(b'12345678', NOW, [0])
    assert not connection.has_time(50.0, 0.002)  # one waits
    control[JobMemory.DONE] += 2
    assert connection.has_time(60.0, 0.002)


def test_a_renderer_that_is_gone_is_told_nothing(ends):
    connection, theirs = ends
    theirs.close()
    connection.tell(link.OVERLAYS, b'[]')
    connection.tell_readers([0])
    assert not connection.post(b'12345678', NOW, [0])


def test_frames_come_back_with_the_state_that_they_show(ends):
    connection, theirs = ends
    future = connection.ask(b'12345678', NOW, [1, 0])
    ((kind, body),) = received(theirs)
    job = link.unpack_job(body)
    assert kind == link.JOB and not job.streamed and job.returned == (1, 0)
    connection.take_frames(job.number, link.to_file(b'de', b'abc'))
    assert future.result(0) == connection.latest == {1: Frame(b'de', NOW), 0: Frame(b'abc', NOW)}


def test_those_who_wait_for_frames_are_released_when_the_renderer_dies(ends):
    connection, _ = ends
    future = connection.ask(b'12345678', NOW, [0])
    connection.close()
    assert future.result(0) == {}
