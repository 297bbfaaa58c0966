# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Knowing who has a region open, however the reader opens, closes or dies."""

import time

from waiting import wait_until

from urlab_ros_bridge.transport.shm import RegionReader
from urlab_ros_bridge.transport.shm.region import Region
from urlab_ros_bridge.transport.shm.server import OpenWatch
from urlab_ros_bridge.transport.shm.server import POLL_SECONDS


def test_a_region_is_open_until_its_last_reader_closes(tmp_path, keep):
    region, watch, opened = keep(Region.create(tmp_path / 'state.shm', 64)), keep(OpenWatch()), []
    watch.start()
    watch.add(region, opened.append)
    for _ in range(2):
        readers = [RegionReader.open(region.path) for _ in range(3)]
        wait_until(lambda: watch.is_open(region))
        for reader in readers[:2]:
            reader.close()
        time.sleep(3 * POLL_SECONDS)
        assert watch.is_open(region)
        readers[2].close()
        wait_until(lambda: not watch.is_open(region))
    assert opened == [True, False] * 2
