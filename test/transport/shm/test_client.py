# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Requests through a pair of regions: matching replies, timeouts, and servers that end."""

import fcntl
import os
import threading
import time

import pytest
from repeating import repeating

from urlab_ros_bridge.client.errors import ConnectionLost
from urlab_ros_bridge.client.errors import NotConnected
from urlab_ros_bridge.client.errors import RequestTimeout
from urlab_ros_bridge.transport.shm import RegionReader
from urlab_ros_bridge.transport.shm import RegionWriter
from urlab_ros_bridge.transport.shm.client import ShmRequester
from urlab_ros_bridge.transport.shm.region import Region
from urlab_ros_bridge.wire.errors import FrameTooLarge
from urlab_ros_bridge.wire.errors import MalformedRegion
from urlab_ros_bridge.wire.errors import RegionUnavailable

STRIDE = 4096
PATIENCE = 60.0  # s


@pytest.fixture(params=['ours', 'stock'])
def stock(request):
    return request.param == 'stock'


@pytest.fixture
def seen(tmp_path, stock):
    """Answer requests with their own bytes, `late` when the next has come; return all of them."""
    requests, replies = (
        Region.create(tmp_path / f'{name}.shm', STRIDE) for name in ('req', 'rep')
    )
    if stock:
        for region in (requests, replies):
            region.tagged = False
            region.repair()
    reader, writer = RegionReader(requests), RegionWriter(replies)
    frames, unanswered = [], []

    def turn():
        frame = reader.read()
        if frame is None:
            reader.sleep(1e-3)
            return
        frames.append(frame)
        unanswered.append((frame, reader.sequence))
        while frame != b'late' and unanswered:
            writer.write(*unanswered.pop(0))
            time.sleep(0.05 * len(unanswered))  # so that each is seen

    with repeating(turn):
        yield frames


@pytest.fixture
def rpc(tmp_path, seen):
    made = ShmRequester(tmp_path)
    yield made
    made.close()


def test_each_request_gets_its_own_reply_and_never_a_late_one(rpc, seen, stock):
    assert rpc.is_numbered is not stock
    with pytest.raises(FrameTooLarge):
        rpc.exchange('op', bytes(STRIDE + 1), 1.0)
    frames = [b'%d' % number for number in range(500)]
    assert [rpc.exchange('op', frame, PATIENCE) for frame in frames] == frames == seen
    with pytest.raises(RequestTimeout):
        rpc.exchange('op', b'late', 0.05)
    if not stock:  # a stock pair is not used again, see `test_link`
        assert rpc.exchange('op', b'next', PATIENCE) == b'next'


def test_another_thread_can_cancel(rpc):
    threading.Timer(0.1, rpc.cancel).start()
    began = time.monotonic()
    with pytest.raises(NotConnected):
        rpc.exchange('op', b'late', 60.0)
    assert time.monotonic() - began < 30.0


def test_server_that_loses_its_lock_is_dead(tmp_path, seen):
    fd = os.open(tmp_path / 'lock', os.O_CREAT | os.O_RDWR)
    fcntl.flock(fd, fcntl.LOCK_EX)
    rpc = ShmRequester(tmp_path)
    assert rpc.is_alive
    os.close(fd)
    assert not rpc.is_alive
    with pytest.raises(ConnectionLost):
        rpc.exchange('op', b'late', 5.0)
    rpc.close()


def test_missing_and_foreign_files_are_different_errors(tmp_path):
    with pytest.raises(RegionUnavailable):
        ShmRequester(tmp_path)
    Region.create(tmp_path / 'req.shm', STRIDE).close()
    (tmp_path / 'rep.shm').write_bytes(b'URLB' + bytes(100))
    before = len(os.listdir('/proc/self/fd'))
    with pytest.raises(MalformedRegion):
        ShmRequester(tmp_path)
    region = Region.create(tmp_path / 'req.shm', STRIDE)
    region.words[6] = 77
    region.close()
    with pytest.raises(MalformedRegion):
        ShmRequester(tmp_path)
    assert len(os.listdir('/proc/self/fd')) == before
