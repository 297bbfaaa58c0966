# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Shared-memory regions: the stock layout to the byte, and no torn read at all."""

import struct
import sys
import time

from example_counts import examples
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
from lifelines import start_process
import numpy as np
import pytest

from urlab_ros_bridge.transport.shm import RegionReader
from urlab_ros_bridge.transport.shm import RegionWriter
from urlab_ros_bridge.transport.shm.region import Region
from urlab_ros_bridge.wire.errors import MalformedRegion

STRIDE = 64


@pytest.fixture
def path(tmp_path):
    return tmp_path / 'state.shm'


@given(payloads=st.lists(st.binary(min_size=1, max_size=STRIDE - 4), max_size=12))
@settings(deadline=None, max_examples=examples(40))
def test_a_written_payload_is_read_once(tmp_path_factory, payloads):
    path = tmp_path_factory.mktemp('region') / 'x.shm'
    writer, reader = RegionWriter.create(path, STRIDE), RegionReader.open(path)
    assert reader.read() is None
    for tag, payload in enumerate(payloads, 7):
        writer.write(payload, tag)
        assert reader.pending
        assert (reader.read(), reader.tag, reader.sequence) == (payload, tag, writer.sequence)
        assert (reader.read(), reader.pending) == (None, False)


def test_stock_file_has_no_tags_and_gets_none(path):
    """The extension word decides, not the reader: a stock server's reserved bytes stay zero."""
    header = struct.pack('<IIIIQI', 0x424C5255, 1, STRIDE, 2, 0, 0)
    path.write_bytes(header.ljust(64 + 2 * STRIDE, b'\0'))
    writer = RegionWriter(Region.open(path, writable=True))
    writer.write(b'request', tag=99)
    assert not any(path.read_bytes()[28:64])
    reader = RegionReader.open(path)
    assert (reader.read(), reader.tag) == (b'request', 0)


@pytest.mark.parametrize('last', [7, 255])
def test_write_whose_writer_is_interrupted_while_it_counts_is_delivered_once(path, last):
    """`struct.pack_into` stores 0 first; a busy machine may leave it there for long."""
    writer, reader = RegionWriter.create(path, STRIDE), RegionReader.open(path)
    longs = writer.region.longs
    longs[2] = writer.sequence = last - 1
    writer.write(b'before')
    assert reader.read() == b'before'
    writer.write(b'request')
    longs[2] = 0
    assert reader.read() is None
    time.sleep(0.02)
    seen = [reader.read()]
    longs[2] = last + 1
    seen += [reader.read(), reader.read()]
    assert seen == [b'request', None, None]
    assert not reader.pending
    writer.write(b'next')
    assert (reader.read(), reader.sequence) == (b'next', last + 2)


LAPPING_WRITER = """
import sys
from pathlib import Path
from urlab_ros_bridge.transport.shm import RegionWriter
from urlab_ros_bridge.transport.shm.region import Region
from urlab_ros_bridge.wire.errors import MalformedRegion

writer = RegionWriter(Region.open(Path(sys.argv[1]), writable=True))
sizes = (8, writer.capacity // 2, writer.capacity)
print('ready', flush=True)
number = 0
while True:
    number += 1
    size = sizes[number % 3] // 8 * 8
    writer.write(number.to_bytes(8, 'little') * (size // 8), number)
"""


def test_no_torn_read_while_a_process_laps_the_reader(path):
    """Every payload repeats one number, so two halves of different writes would show."""
    stride = 262144 + 4
    RegionWriter.create(path, stride).close()
    process = start_process([sys.executable, '-c', LAPPING_WRITER, path], stdout=-1)
    try:
        assert process.stdout.readline() == b'ready\n'
        reader, buffer = RegionReader.open(path), np.empty(stride // 8, np.uint64)
        reads = last = 0
        begin = time.monotonic()
        # On a busy machine it may take a while until a copy is interrupted at all.
        while time.monotonic() < begin + (20.0 if reader.torn == 0 or reads <= 20 else 0.8):
            size = reader.read_into(buffer)
            if size is None:
                continue
            reads += 1
            numbers = buffer[: size // 8]
            assert (numbers == numbers[0]).all()
            assert numbers[0] == reader.tag > last
            last = reader.tag
        assert reads > 20
        assert reader.sequence > reads, 'the writer never lapped the reader'
        assert reader.torn > 0, 'no copy was ever interrupted: the test proved nothing'
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ('head', 'reason'),
    [
        ([], '0 bytes'),
        ([0, 1, 64, 2], 'magic'),
        ([0x424C5255, 2, 64, 2], 'version'),
        ([0x424C5255, 1, 4, 2], 'slots of 4'),
        ([0x424C5255, 1, 64, 2**31], 'slots'),
        ([0x424C5255, 1, 1 << 20, 2], 'need more'),
    ],
)
def test_foreign_or_truncated_file_is_refused(path, head, reason):
    path.write_bytes(struct.pack(f'<{len(head)}I', *head).ljust(300 if head else 0))
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
