# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""state.shm: states of any size."""

from waiting import wait_until

from urlab_ros_bridge.sim.observe.shm_state import ShmStatePublisher
from urlab_ros_bridge.transport.shm import RegionReader
from urlab_ros_bridge.transport.shm.directory import STATE_FILE
from urlab_ros_bridge.transport.shm.server import OpenWatch


class Observer:
    """Snapshots of a chosen size."""

    size = 100

    def snapshot(self):
        return b'S' * self.size


def test_state_that_outgrows_the_file_is_dropped_with_one_warning(rover, keep, tmp_path, caplog):
    watch, observer, engine = keep(OpenWatch()), Observer(), rover.engine
    watch.start()
    keep(ShmStatePublisher(engine, observer, tmp_path, watch))
    reader = keep(RegionReader.open(tmp_path / STATE_FILE))

    def published():
        engine.publish(rows=False)
        return reader.read()

    wait_until(published)  # the reader has been noticed
    assert (published(), reader.tag) == (b'S' * 100, engine.clock.stamp_ns)
    observer.size = 20_000
    assert [published() for _ in range(3)] == [None] * 3
    assert [record.levelname for record in caplog.records] == ['WARNING']
    observer.size = 10
    assert published() == b'S' * 10
