# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""However the disk is: what was published while a bag was written is in it, or it says so."""

import contextlib
from pathlib import Path
import struct
import threading
import time

from bag_runs import advance
from bag_runs import begin
from bag_runs import contiguous
from bag_runs import end
from bridge_harness import wait_until
from mcap.exceptions import EndOfFile
from mcap.records import Message
from mcap.stream_reader import StreamReader
import pytest
from urlab_msgs import srv

from urlab_ros_bridge.ros.extras.bag.errors import BagFailed
from urlab_ros_bridge.ros.extras.bag.errors import BagTimeout
from urlab_ros_bridge.ros.extras.bag.files import BagFiles
from urlab_ros_bridge.ros.extras.bag.writer import BagQueue
from urlab_ros_bridge.ros.features.stream_tasks import StreamTasks


def test_a_slow_disk_delays_publishing_and_loses_nothing(recording, published, monkeypatch):
    write = BagFiles.write

    def slow(self, *message):
        time.sleep(0.002)
        write(self, *message)

    monkeypatch.setattr(BagFiles, 'write', slow)
    monkeypatch.setattr(BagQueue.__init__, '__defaults__', (20_000,))
    _, bridge, _, _ = recording
    begin(bridge)
    wait_until(lambda: bridge.recorder.bag.queue.waits > 3)
    (file,) = end(bridge)
    for topic in ('/odom', '/clock', '/joint_states'):
        found = [data for _, data in file.of(topic)]
        assert found and contiguous(found, [data for name, data in published if name == topic])


def test_a_disk_that_refuses_ends_the_bag_and_not_the_bridge(recording, monkeypatch):
    server, bridge, _, _ = recording
    begin(bridge)

    def refuse(self, *message):
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr(BagFiles, 'write', refuse)
    wait_until(lambda: bridge.recorder.bag.writer.problem)
    ticks = bridge.stream.counters.ticks
    wait_until(lambda: bridge.stream.counters.ticks > ticks + 20)
    with pytest.raises(BagFailed, match='No space left'):
        bridge.recorder.end()
    monkeypatch.undo()
    begin(bridge, 'again')
    advance(server, 0.1)
    assert end(bridge)[0].messages


def test_on_a_full_disk_a_bag_is_refused_with_the_reason_and_leaves_nothing(
    recording, monkeypatch
):
    server, bridge, listener, bags = recording
    opened = Path.open

    def on_full_disk(path, mode='r', *more, **options):
        if path.suffix == '.mcap':
            return opened(Path('/dev/full'), 'wb')
        return opened(path, mode, *more, **options)

    advance(server, 0.01)
    with monkeypatch.context() as patched:
        patched.setattr(Path, 'open', on_full_disk)
        refused = listener.call(srv.BagStart, '/bag_start', name='run')
    assert (refused.success, refused.code) == (False, 'bag_failed')
    assert 'No space left' in refused.message
    assert bridge.recorder.bag is None and not (bags / 'run').exists()
    assert listener.call(srv.BagStart, '/bag_start', name='run').success
    assert end(bridge)


def test_a_killed_bridge_leaves_what_was_written_until_the_last_flush(recording, tmp_path):
    server, bridge, _, _ = recording
    path = begin(bridge)
    files = bridge.recorder.bag.files
    wait_until(lambda: files.size > 20_000)
    # What the file is at this moment is all that a killed process leaves.
    whole, part = path / 'run_0.mcap', tmp_path / 'part.mcap'
    part.write_bytes(whole.read_bytes())
    advance(server, 0.1)
    (file,) = end(bridge)
    found = []
    with part.open('rb') as stream, contextlib.suppress(EndOfFile, struct.error):
        for record in StreamReader(stream).records:
            if isinstance(record, Message):
                found.append((record.log_time, record.data))
    assert len(found) > 100
    assert found == [(when, data) for _, when, _, data in file.messages[: len(found)]]


@contextlib.contextmanager
def publishing_blocked(bridge, monkeypatch):
    """Block the stream thread, as a slow disk does, and shorten the timeout of callers."""
    blocked, release = threading.Event(), threading.Event()

    def block():
        blocked.set()
        release.wait()

    blocker = threading.Thread(
        target=bridge.node.bridge.stream_tasks.run_and_wait, args=(block, 60.0)
    )
    blocker.start()
    assert blocked.wait(60)
    try:
        with monkeypatch.context() as patched:
            patched.setattr(StreamTasks.run_and_wait, '__defaults__', (0.2,))
            yield
    finally:
        release.set()
        blocker.join()


def test_a_bag_whose_start_or_stop_times_out_is_neither_half_started_nor_lost(
    recording, monkeypatch
):
    server, bridge, _, _ = recording
    with publishing_blocked(bridge, monkeypatch), pytest.raises(BagTimeout):
        begin(bridge)
    advance(server, 0.1)
    assert bridge.recorder.bag is None
    begin(bridge)
    with publishing_blocked(bridge, monkeypatch), pytest.raises(BagTimeout):
        bridge.recorder.end()
    advance(server, 0.1)
    assert bridge.recorder.bag.writer.problem == ''
    assert end(bridge)[0].messages
