# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Regions that are foreign, damaged or replaced give typed errors."""

import struct

import pytest

from urlab_ros_bridge.transport.shm import RegionReader
from urlab_ros_bridge.transport.shm import RegionWriter
from urlab_ros_bridge.wire.errors import MalformedRegion

STRIDE = 64


@pytest.fixture
def path(tmp_path):
    return tmp_path / 'state.shm'


@pytest.mark.parametrize(
    ('content', 'reason'),
    [
        (b'', '0 bytes'),
        (bytes(300), 'magic'),
        (struct.pack('<IIIIQI', 0x424C5255, 2, 64, 2, 0, 0).ljust(300), 'version'),
        (struct.pack('<IIIIQI', 0x424C5255, 1, 4, 2, 0, 0).ljust(300), 'slots of 4'),
        (struct.pack('<IIIIQI', 0x424C5255, 1, 64, 2**31, 0, 0).ljust(300), 'slots'),
        (struct.pack('<IIIIQI', 0x424C5255, 1, 1 << 20, 2, 0, 0).ljust(300), 'need more'),
    ],
)
def test_foreign_or_truncated_file_is_refused(path, content, reason):
    path.write_bytes(content)
    with pytest.raises(MalformedRegion, match=reason):
        RegionReader.open(path)


def test_replaced_and_removed_files_are_noticed(path):
    writer, reader = RegionWriter.create(path, STRIDE), RegionReader.open(path)
    assert not reader.region.stale()
    replaced = RegionWriter.create(path, STRIDE)
    assert reader.region.stale()
    writer.write(b'still mapped')
    assert reader.read() == b'still mapped'
    second = RegionReader.open(path)
    replaced.close(unlink=True)
    assert second.region.stale()
    assert not path.exists()
