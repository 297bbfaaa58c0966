# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Messages come out of a reader as they went in, however they are cut; any bytes are safe."""

from example_counts import examples
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.client.transports.subscriptions.publisher_reader import MessageReader
from urlab_ros_bridge.client.transports.subscriptions.publisher_reader import SMALL
from urlab_ros_bridge.wire import zmtp
from urlab_ros_bridge.wire.errors import FrameTooLarge
from urlab_ros_bridge.wire.errors import WireError

HELLO = zmtp.GREETING + zmtp.ready('XPUB')
LARGE = SMALL + 1
PARTS = st.binary(max_size=20) | st.sampled_from([255, 256, SMALL, LARGE, 3 * LARGE]).map(
    lambda size: bytes(index % 251 for index in range(size))
)


class Connection:
    """Puts bytes into a reader as a socket does: no more at a time than there is room for."""

    def __init__(self, topics=(b'',), limit=1 << 20):
        self.taken = []
        self.reader = MessageReader(limit, self._memory)
        self.reader.subscribe(tuple(topics))
        self.reads = 0

    def _memory(self, size):
        self.taken.append(size)
        return memoryview(bytearray(size))

    def put(self, data):
        """Return the messages that come out."""
        found = []
        while True:
            while (message := self.reader.next()) is not None:
                found.append([bytes(part) for part in message])
            if not data:
                return found
            room = self.reader.room()
            assert len(room)
            count = min(len(room), len(data))
            room[:count] = data[:count]
            self.reader.filled(count)
            self.reads += 1
            data = data[count:]


def packed(*parts):
    """Return a message on the wire."""
    *first, last = parts
    return b''.join([*(zmtp.frame(part, zmtp.MORE) for part in first), zmtp.frame(last)])


def greeted(**options):
    made = Connection(**options)
    assert made.put(HELLO) == [] and made.reader.ready
    return made


@settings(max_examples=examples(150), deadline=None)
@given(st.data(), st.lists(st.lists(PARTS, min_size=1, max_size=4), max_size=5))
def test_messages_come_out_as_they_went_in(data, messages):
    stream = HELLO + b''.join(
        packed(*parts) + (zmtp.command(b'PING', b'\0\0context') if len(parts) == 2 else b'')
        for parts in messages
    )
    places = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    connection, found = Connection(), []
    for begin, end in zip([0, *places], [*places, len(stream)], strict=True):
        found += connection.put(stream[begin:end])
    assert found == messages
    pings = sum(len(parts) == 2 for parts in messages)
    assert connection.reader.answers == pings * zmtp.command(b'PONG', b'context')


@settings(max_examples=examples(300))
@given(
    st.builds(
        lambda begin, rest: begin + rest,
        st.sampled_from([b'', zmtp.GREETING, HELLO, HELLO + zmtp.frame(b'topic', zmtp.MORE)]),
        st.binary(max_size=60),
    )
)
def test_any_bytes_give_messages_or_a_wire_error(data):
    connection = Connection(limit=2 * SMALL)
    try:
        found = connection.put(data)
    except WireError:
        found = []
    assert sum(len(part) for parts in found for part in parts) <= len(data)
    assert all(size <= 2 * SMALL for size in connection.taken)


def test_what_nobody_has_subscribed_to_is_left_out():
    connection = greeted(topics=[b'a/', b'bc'])
    sent = [[b'a/x', b'1'], [b'a', b'2'], [b'bcd' * LARGE, b'3'], [b'b' * LARGE, b'4'], [b'bc']]
    found = connection.put(b''.join(packed(*parts) for parts in sent))
    assert found == [sent[0], sent[2], sent[4]]


@pytest.mark.parametrize(
    'data',
    [
        zmtp.frame_head(101),
        zmtp.frame(bytes(60), zmtp.MORE) + zmtp.frame_head(41),
        zmtp.frame_head(zmtp.COMMAND_BYTES + 1, zmtp.COMMAND),
        zmtp.frame_head(1 << 63),
    ],
)
def test_a_size_beyond_the_limit_is_refused_before_there_is_memory_for_it(data):
    connection = greeted(limit=100)
    with pytest.raises(FrameTooLarge):
        connection.put(data)
    assert connection.taken == []


def test_parts_without_end_end_the_connection():
    connection = greeted()
    with pytest.raises(zmtp.BadPeer, match='256 parts'):
        connection.put(300 * zmtp.frame(b'', zmtp.MORE))


def test_no_memory_is_the_fault_of_the_publisher():
    def memory(size):
        raise MemoryError

    reader = MessageReader(1 << 30, memory)
    data = HELLO + zmtp.frame_head(1 << 30)
    reader.room()[: len(data)] = data
    reader.filled(len(data))
    with pytest.raises(zmtp.BadPeer, match='no memory'):
        reader.next()


@pytest.mark.parametrize(
    'hello',
    [
        b'GET / HTTP/1.1\r\n',
        zmtp.GREETING + zmtp.ready('REP'),
        zmtp.GREETING + packed(b'topic', b'early'),
        zmtp.GREETING + zmtp.frame_head(LARGE),
        zmtp.GREETING + zmtp.command(b'PING', b'\0\0'),
        zmtp.GREETING.replace(b'NULL', b'CURV'),
    ],
)
def test_who_is_no_publisher_is_refused(hello):
    with pytest.raises(zmtp.BadPeer):
        Connection().put(hello)


def test_after_the_first_picture_each_takes_two_reads_and_its_size_is_known():
    message = packed(b'bot/camera/eye ', bytes(10 * LARGE))
    connection = greeted()
    assert connection.reader.missing == 1
    connection.put(message)
    for _ in range(3):
        assert connection.reader.missing == len(message)
        before = connection.reads
        connection.put(message[:50])
        assert connection.reader.missing == len(message) - 50
        connection.put(message[50:])
        assert connection.reads <= before + 3
        before = connection.reads
        connection.put(message)
        assert connection.reads == before + 2
    # A picture of another size is received, too, and expected from then on.
    other = packed(b'bot/camera/eye ', bytes(5 * LARGE))
    assert len(connection.put(other)) == 1 and connection.reader.missing == len(other)
