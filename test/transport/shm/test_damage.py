# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Regions that are foreign, damaged or replaced give typed errors."""

import struct

from example_counts import examples
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.transport.shm import RegionReader
from urlab_ros_bridge.transport.shm import RegionWriter
from urlab_ros_bridge.wire.errors import MalformedRegion
from urlab_ros_bridge.wire.errors import UrlabError

STRIDE = 64


@pytest.fixture
def path(tmp_path):
    return tmp_path / 'state.shm'


@pytest.mark.parametrize(
    ('content', 'reason'),
    [
        (b'', '0 bytes'),
        (b'URLB', '4 bytes'),
        (bytes(300), 'magic'),
        (struct.pack('<IIIIQI', 0x424C5255, 2, 64, 2, 0, 0).ljust(300), 'version'),
        (struct.pack('<IIIIQI', 0x424C5255, 1, 4, 2, 0, 0).ljust(300), 'slots of 4'),
        (struct.pack('<IIIIQI', 0x424C5255, 1, 64, 1, 0, 0).ljust(300), '1 slots'),
        (struct.pack('<IIIIQI', 0x424C5255, 1, 64, 2**31, 0, 0).ljust(300), 'slots'),
        (struct.pack('<IIIIQI', 0x424C5255, 1, 1 << 20, 2, 0, 0).ljust(300), 'need more'),
    ],
)
def test_foreign_or_truncated_file_is_refused(path, content, reason):
    path.write_bytes(content)
    with pytest.raises(MalformedRegion, match=reason):
        RegionReader.open(path)


@given(data=st.data())
@settings(deadline=None, max_examples=examples(60))
def test_any_header_gives_a_payload_nothing_or_a_typed_error(tmp_path_factory, data):
    path = tmp_path_factory.mktemp('region') / 'x.shm'
    writer = RegionWriter.create(path, STRIDE)
    writer.write(b'sound')
    reader = RegionReader.open(path)
    with open(path, 'r+b') as file:
        for _ in range(data.draw(st.integers(1, 6))):
            file.seek(data.draw(st.integers(0, 63 + STRIDE)))
            file.write(data.draw(st.binary(max_size=24)))
    for subject in (lambda: reader, lambda: RegionReader.open(path)):
        try:
            payload = subject().read()
            assert payload is None or len(payload) <= STRIDE - 4
        except UrlabError:
            pass
    writer.close()


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
