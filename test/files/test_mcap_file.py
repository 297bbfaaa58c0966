# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A file holds what was written, and what was flushed survives the writer."""

import itertools

from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
from mcap.reader import make_reader
from mcap.records import Message
from mcap.stream_reader import StreamReader
import pytest

from urlab_ros_bridge.files import COMPRESSIONS
from urlab_ros_bridge.files import McapFile

SCHEMAS = {'a_msgs/msg/A': 'uint8 a\n', 'b_msgs/msg/B': 'string b\n'}
messages = st.lists(
    st.tuples(
        st.sampled_from(['/a', '/b', '/a2']), st.integers(0, 1 << 62), st.binary(max_size=300)
    ),
    max_size=40,
)


def write(file, wanted):
    channels = {
        '/a': file.channel('/a', 'a_msgs/msg/A', SCHEMAS['a_msgs/msg/A'], {'k': 'v'}),
        '/a2': file.channel('/a2', 'a_msgs/msg/A', SCHEMAS['a_msgs/msg/A']),
        '/b': file.channel('/b', 'b_msgs/msg/B', SCHEMAS['b_msgs/msg/B']),
    }
    for number, (topic, stamp, data) in enumerate(wanted):
        file.write(channels[topic], stamp, data, number)


@settings(max_examples=30, deadline=None)
@given(messages, st.sampled_from(COMPRESSIONS), st.integers(1, 2000))
def test_a_file_holds_every_message_once(tmp_path_factory, wanted, compression, chunk):
    path = tmp_path_factory.mktemp('mcap') / 'a.mcap'
    file = McapFile(path, compression, chunk)
    write(file, wanted)
    file.metadata('notes', {'x': 'y'})
    file.attach('model', 'application/octet-stream', b'123', 5)
    file.close()
    with path.open('rb') as stream:
        reader = make_reader(stream)
        found = [
            (channel.topic, message.log_time, message.data, message.sequence)
            for _, channel, message in reader.iter_messages(log_time_order=False)
        ]
        summary = reader.get_summary()
        notes = [record.metadata for record in reader.iter_metadata()]
        model = [record.data for record in reader.iter_attachments()]
    assert found == [(*each, number) for number, each in enumerate(wanted)]
    assert {s.name: s.data.decode() for s in summary.schemas.values()} == SCHEMAS
    assert all(s.encoding == 'ros2msg' for s in summary.schemas.values())
    assert {c.topic: c.metadata for c in summary.channels.values()}['/a'] == {'k': 'v'}
    assert notes == [{'x': 'y'}] and model == [b'123']
    assert file.messages == len(wanted) == sum(file.counts.values())
    stamps = [stamp for _, stamp, _ in wanted]
    assert (file.start_ns, file.end_ns) == (min(stamps, default=None), max(stamps, default=None))


@pytest.mark.parametrize('compression', COMPRESSIONS)
def test_flushed_messages_are_readable_without_the_end_of_the_file(tmp_path, compression):
    path = tmp_path / 'a.mcap'
    file = McapFile(path, compression)
    write(file, [('/a', stamp, b'before') for stamp in range(50)])
    file.flush()
    assert path.stat().st_size == file.size
    write(file, [('/b', 99, b'after' * 1000)])
    with path.open('rb') as stream:
        sound = (r for r in StreamReader(stream).records if isinstance(r, Message))
        found = list(itertools.islice(sound, 50))
    assert [message.log_time for message in found] == list(range(50))
    file.close()


def test_an_existing_file_is_not_overwritten(tmp_path):
    (tmp_path / 'a.mcap').write_text('mine')
    with pytest.raises(FileExistsError):
        McapFile(tmp_path / 'a.mcap')
    assert (tmp_path / 'a.mcap').read_text() == 'mine'
