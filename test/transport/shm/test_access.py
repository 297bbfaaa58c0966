# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Shared-memory regions: the stock layout to the byte, and no torn read at all."""

import struct
import sys
import threading
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
from urlab_ros_bridge.wire.errors import FrameTooLarge

STRIDE = 64


@pytest.fixture
def path(tmp_path):
    return tmp_path / 'state.shm'


@given(payloads=st.lists(st.binary(min_size=1, max_size=STRIDE - 4), max_size=12))
@settings(deadline=None, max_examples=examples(40))
def test_what_is_written_is_read_once(tmp_path_factory, payloads):
    path = tmp_path_factory.mktemp('region') / 'x.shm'
    writer, reader = RegionWriter.create(path, STRIDE), RegionReader.open(path)
    assert reader.read() is None
    for tag, payload in enumerate(payloads, 7):
        writer.write(payload, tag)
        assert reader.pending
        assert (reader.read(), reader.tag, reader.sequence) == (payload, tag, writer.sequence)
        assert (reader.read(), reader.pending) == (None, False)
    reader.close()
    writer.close()


def test_oversize_payload_is_refused_and_nothing_is_published(path):
    writer, reader = RegionWriter.create(path, STRIDE), RegionReader.open(path)
    writer.write(bytes(STRIDE - 4))
    assert len(reader.read()) == STRIDE - 4
    with pytest.raises(FrameTooLarge, match=f'{STRIDE - 3} bytes'):
        writer.write(bytes(STRIDE - 3))
    assert reader.read() is None


def test_second_writer_goes_on_counting(path):
    RegionWriter.create(path, STRIDE).write(b'one')
    reader = RegionReader.open(path)
    assert reader.read() == b'one'
    second = RegionWriter(Region.open(path, writable=True))
    second.write(b'two')
    assert (reader.read(), reader.sequence) == (b'two', 2)


def test_stock_file_has_no_tags_and_gets_none(path):
    """The extension word decides, not who reads: a stock server's reserved bytes stay zero."""
    header = struct.pack('<IIIIQI', 0x424C5255, 1, STRIDE, 2, 0, 0)
    path.write_bytes(header.ljust(64 + 2 * STRIDE, b'\0'))
    writer = RegionWriter(Region.open(path, writable=True))
    writer.write(b'request', tag=99)
    assert not any(path.read_bytes()[28:64])
    reader = RegionReader.open(path)
    assert (reader.read(), reader.tag) == (b'request', 0)


def test_write_that_is_named_but_not_yet_counted_is_delivered_once(path):
    """A writer stores the slot number before the count: a reader may look in between."""
    writer, reader = RegionWriter.create(path, STRIDE), RegionReader.open(path)
    longs, words = writer.region.longs, writer.region.words
    writer.write(b'one')
    writer.write(b'two')
    longs[2] = 1  # the moment before the second write is counted
    seen = [reader.read()]
    longs[2] = 2
    seen += [reader.read(), reader.read()]
    assert seen == [b'two', None, None]
    # The other half: the write that was read is the one before.
    writer.write(b'three')
    assert reader.read() == b'three'
    words[6] = 1
    assert reader.read() is None


def test_sequence_that_carries_byte_by_byte_delivers_once(path):
    """Stock Python peers write the low byte first: 255 becomes 0 and then 256."""
    writer, reader = RegionWriter.create(path, STRIDE), RegionReader.open(path)
    longs = writer.region.longs
    longs[2] = writer.sequence = 254
    writer.write(b'before')
    assert reader.read() == b'before'
    writer.write(b'carry')
    longs[2] = 0
    seen = [reader.read()]
    longs[2] = 256
    seen += [reader.read(), reader.read()]
    assert seen == [None, b'carry', None]


@pytest.mark.parametrize('last', [7, 255, 256])
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


def test_sequence_that_begins_anew_is_followed(path):
    writer, reader = RegionWriter.create(path, STRIDE), RegionReader.open(path)
    for _ in range(9):
        writer.write(b'old')
    assert reader.read() == b'old'
    writer.sequence = 0
    writer.write(b'new')
    assert reader.read() is None
    time.sleep(0.02)
    assert reader.read() == b'new'


def test_copy_is_thrown_away_when_the_writer_laps_it_once(path):
    """The case that stock readers let through: two writes during one copy of two slots."""
    writer, reader = RegionWriter.create(path, STRIDE), RegionReader.open(path)
    writer.write(b'a' * 20)
    laps = iter(range(3))

    def interrupted(view):
        if next(laps, None) is not None:
            writer.write(b'b' * 20)
            writer.write(b'c' * 20)
        return bytes(view)

    assert reader._read_slot(interrupted) == b'c' * 20
    assert reader.torn == 3


LAPPING_WRITER = """
import sys
from pathlib import Path
from urlab_ros_bridge.transport.shm import RegionWriter
from urlab_ros_bridge.transport.shm.region import Region

writer = RegionWriter(Region.open(Path(sys.argv[1]), writable=True))
sizes = (8, writer.capacity // 2, writer.capacity)
print('ready', flush=True)
number = 0
while True:
    number += 1
    size = sizes[number % 3] // 8 * 8
    writer.write(number.to_bytes(8, 'little') * (size // 8), number)
"""


@pytest.mark.parametrize('stride', [4096 + 4, 262144 + 4])
def test_no_torn_read_while_a_process_laps_the_reader(path, stride):
    """Every payload repeats one number, so two halves of different writes would show."""
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


def test_sleep_ends_when_something_is_written(path):
    writer = RegionWriter.create(path, STRIDE)
    reader = RegionReader(Region.open(path, writable=True))
    if not reader.is_woken:
        pytest.skip('no futex here')
    threading.Timer(0.1, writer.write, (b'ring',)).start()
    began = time.monotonic()
    reader.sleep(60.0)
    assert 0.05 < time.monotonic() - began < 30.0
    began = time.monotonic()
    reader.sleep(60.0)  # what was written is not read yet
    assert time.monotonic() - began < 30.0
    assert reader.read() == b'ring'
    began = time.monotonic()
    reader.sleep(0.05)
    assert 0.04 < time.monotonic() - began < 30.0


def test_writer_rings_only_for_sleepers(path, monkeypatch):
    """Ringing is a system call, a third of a small request."""
    writer = RegionWriter.create(path, STRIDE)
    reader = RegionReader(Region.open(path, writable=True))
    rings = []
    monkeypatch.setattr(writer.region.futex, 'wake', lambda: rings.append(1))
    writer.write(b'nobody')
    reader.read()
    reader.sleep(0.001)
    writer.write(b'a reader among others may sleep')
    reader.read()
    reader.sleep(0.001, alone=True)
    writer.write(b'the only reader was awake')
    assert len(rings) == 1
    writer.forget()
    assert (RegionReader.open(path).read(), len(rings)) == (None, 1)
