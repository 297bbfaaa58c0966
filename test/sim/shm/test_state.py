# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""state.shm: its content, and that it costs nothing without readers."""

import time

import pytest

from urlab_ros_bridge.sim.observe.state import ShmStatePublisher
from urlab_ros_bridge.transport.shm import RegionReader
from urlab_ros_bridge.transport.shm.directory import STATE_FILE
from urlab_ros_bridge.transport.shm.server import OpenWatch


class Counting:
    """An observer that counts, with snapshots of a chosen size."""

    def __init__(self, size=100):
        self.calls, self.size = 0, size

    def snapshot(self):
        self.calls += 1
        return b'S' * self.size


@pytest.fixture
def publishing(rover, tmp_path):
    """Return (engine, observer, publisher) with a watch that runs."""
    watch = OpenWatch()
    watch.start()
    observer = Counting()
    publisher = ShmStatePublisher(rover.engine, observer, tmp_path, watch)
    observer.calls = 0
    yield rover.engine, observer, tmp_path / STATE_FILE
    publisher.close()
    watch.close()


def settle():
    time.sleep(0.15)


def test_nothing_is_built_without_readers(publishing):
    engine, observer, path = publishing
    engine.publish(rows=False)
    assert observer.calls == 0
    reader = RegionReader.open(path)
    settle()
    for _ in range(3):
        engine.publish(rows=False)
    assert (observer.calls, reader.read(), reader.tag) == (3, b'S' * 100, engine.clock.stamp_ns)
    reader.close()
    settle()
    engine.publish(rows=False)
    assert observer.calls == 3


def test_state_that_outgrows_the_file_is_dropped_with_one_warning(publishing, caplog):
    engine, observer, path = publishing
    reader = RegionReader.open(path)
    settle()
    observer.size = 20_000
    for _ in range(3):
        engine.publish(rows=False)
    assert reader.read() is None
    assert [record.levelname for record in caplog.records] == ['WARNING']
    observer.size = 10
    engine.publish(rows=False)
    assert reader.read() == b'S' * 10
    reader.close()
