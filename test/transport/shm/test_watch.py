# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Knowing who has a region open, however the reader opens, closes or dies."""

import mmap
import time

import pytest
from waiting import wait_until

from urlab_ros_bridge.transport.shm import RegionReader
from urlab_ros_bridge.transport.shm.region import Region
from urlab_ros_bridge.transport.shm.server import OpenWatch
from urlab_ros_bridge.transport.shm.server import POLL_SECONDS


@pytest.fixture
def opened():
    return []


@pytest.fixture
def watch(tmp_path):
    made = OpenWatch()
    made.start()
    yield made
    made.close()
    assert not made.is_alive()


@pytest.fixture
def region(tmp_path, watch, opened):
    made = Region.create(tmp_path / 'state.shm', 64)
    watch.add(made, opened.append)
    yield made
    made.close()


def test_a_region_is_open_until_its_last_reader_closes(watch, region, opened):
    for _ in range(5):
        readers = [RegionReader.open(region.path) for _ in range(3)]
        wait_until(lambda: watch.is_open(region))
        for reader in readers[:2]:
            reader.close()
        time.sleep(3 * POLL_SECONDS)
        assert watch.is_open(region)
        readers[2].close()
        wait_until(lambda: not watch.is_open(region))
    assert opened == [True, False] * 5


def test_mapping_without_a_descriptor_counts(watch, region):
    with open(region.path, 'r+b') as file:
        mapped = mmap.mmap(file.fileno(), 0)
    wait_until(lambda: watch.is_open(region))
    mapped.close()
    wait_until(lambda: not watch.is_open(region))
