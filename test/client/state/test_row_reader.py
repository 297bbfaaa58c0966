# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Rows that are recognised by their bytes are the rows that were sent, however they are cut."""

from example_counts import examples
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from urlab_ros_bridge.client.state.assembler import TickAssembler
from urlab_ros_bridge.client.state.row_reader import RowReader
from urlab_ros_bridge.wire import zmtp
from urlab_ros_bridge.wire.rows import pack_sim_time

HELLO = zmtp.GREETING + zmtp.ready('XPUB')
# Ticks of few kinds, so that they repeat: rows with other numbers in them, a snapshot now and
# then, and what is no row.
KINDS = (
    ((b'rover/joint/a', 32), (b'rover/joint/b', 32), (b'rover/sensor/imu', 300)),
    ((b'rover/joint/a', 32), (b'rover/joint/b', 32)),
    (),
    ((b'rover/joint/a', 32), (b'rover/joint/a', 32)),
    ((b'rover/joint/a', 32), (b'state/full', 700), (b'rover/joint/b', 0)),
    ((b'other/joint/a', 32), (b'rover/joint/b', 32)),
)
CLOSED = (*KINDS[0], (b'sim_time', 24))


@st.composite
def ticks(draw):
    """Return messages, each a list of parts."""
    found = []
    for step in range(draw(st.integers(0, 12))):
        for topic, size in draw(st.sampled_from(KINDS)):
            if topic == b'state/full':
                size += draw(st.integers(0, 3))
            found.append([topic, draw(st.binary(min_size=size, max_size=size))])
        odd = draw(st.sampled_from([None] * 8 + [[b'rover/alone'], [b'rover/a', b'b', b'c']]))
        if odd is not None:
            found.append(odd)
        if draw(st.integers(0, 9)):
            found.append([b'sim_time', pack_sim_time(step * 2_000_000, step, 7)])
    return found


def on_the_wire(parts):
    *first, last = parts
    return b''.join([*(zmtp.frame(part, zmtp.MORE) for part in first), zmtp.frame(last)])


def received(reader, data):
    """Have a reader receive bytes; give what it takes from them."""
    while data:
        room = reader.room()
        count = min(len(room), len(data))
        room[:count] = data[:count]
        reader.filled(count)
        data = data[count:]
        while (taken := reader.next()) is not None:
            yield taken
        assert reader.missing > 0


def read(pieces, topics=(b'rover/', b'state/', b'sim_time')):
    """Return what a reader gives for the pieces of a connection."""
    reader, found = RowReader(1 << 20), []
    reader.subscribe(topics)
    for data in pieces:
        found.extend(received(reader, data))
    return found


def cut(data, draw):
    places = sorted(draw(st.lists(st.integers(0, len(data)), max_size=10)))
    return [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]


@settings(max_examples=examples(200), deadline=None)
@given(st.data(), ticks())
def test_rows_come_out_as_they_went_in(data, messages):
    stream = HELLO + b''.join(map(on_the_wire, messages))
    found = read(cut(stream, data.draw))
    rows = []
    for taken in found:
        if taken.distinct:
            topics = [topic for topic, _ in taken.rows]
            assert len(set(topics)) == len(topics) and b'state/full' not in topics
        rows += [list(row) for row in taken.rows] or [None]
    sent = [parts for parts in messages if not parts[0].startswith(b'other/')]
    assert rows == [parts if len(parts) == 2 else None for parts in sent]


@settings(max_examples=examples(100), deadline=None)
@given(st.data(), ticks(), st.sampled_from(['auto', 'sim_time', 'state_full']))
def test_rows_together_and_one_by_one_make_the_same_ticks(data, messages, closing):
    stream = HELLO + b''.join(map(on_the_wire, messages))
    together, single = TickAssembler(closing), TickAssembler(closing)
    for rows, distinct in read(cut(stream, data.draw)):
        if not rows:
            together.abandon()
            single.abandon()
        elif distinct:
            together.push_rows(list(rows))
        else:
            for row in rows:
                together.push(*row)
        for row in rows:
            single.push(*row)

    def made(assembler):
        return [
            # Without a closing row the stamp is wall time.
            (tick.closed_by == 'wall' or tick.stamp_ns, tick.step, tick.rows, tick.closed_by)
            for tick in assembler.ready
        ]

    assert made(together) == made(single)
    assert together.torn_ticks == single.torn_ticks
    assert together.decode_errors == single.decode_errors


def test_ticks_like_those_before_come_whole_and_most_of_one_is_waited_for():
    tick = b''.join(on_the_wire([topic, bytes(size)]) for topic, size in CLOSED)
    found = read([HELLO] + 5 * [tick])
    assert [len(taken.rows) for taken in found] == [1] * 4 + [4] * 4
    reader = RowReader(1 << 20)
    reader.subscribe((b'',))

    def put(data):
        reader.room()[: len(data)] = data
        reader.filled(len(data))
        while reader.next() is not None:
            pass

    put(HELLO)
    assert reader.missing == 1
    put(tick)
    assert reader.missing == 3 * len(tick) // 4
    put(tick[:100])
    assert reader.missing == 3 * len(tick) // 4 - 100
    put(tick[100:])
    reader.subscribe((b'rover/',))
    assert reader.missing == 1


def test_rows_that_no_tick_ends_with_are_not_remembered():
    reader = RowReader(1 << 20)
    reader.subscribe((b'',))
    rows = b''.join(on_the_wire([b'rover/joint/%d' % number, bytes(8)]) for number in range(50))
    kept = []
    for number in range(400):
        for _ in received(reader, rows if number else HELLO + rows):
            pass
        kept.append(len(reader._known._rows))
    assert max(kept) <= 1 << 13 and kept[-1] == 0
    # The next tick that ends is recognised again.
    tick = b''.join(on_the_wire([topic, bytes(size)]) for topic, size in CLOSED)
    room = reader.room()
    room[: 4 * len(tick)] = 4 * tick
    reader.filled(4 * len(tick))
    found = []
    while (taken := reader.next()) is not None:
        found.append(len(taken.rows))
    assert found == [1] * 8 + [4] * 2
