# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Read bags with the libraries of others."""

from collections import Counter

from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
import numpy as np
from rosbags.highlevel import AnyReader
from stamps import ns_of


class BagFile:
    """One file: `messages` as (topic, log time, publish time, bytes) in the order of the file."""

    def __init__(self, path):
        with path.open('rb') as stream:
            reader = make_reader(stream, decoder_factories=[DecoderFactory()])
            found = list(reader.iter_decoded_messages(log_time_order=False))
            self.decoded = [(each.topic, m.log_time, value) for _, each, m, value in found]
            self.messages = [
                (each.topic, m.log_time, m.publish_time, m.data) for _, each, m, _ in found
            ]
            self.notes = {record.name: record.metadata for record in reader.iter_metadata()}
            self.attachments = {a.name: a.data for a in reader.iter_attachments()}

    def of(self, topic):
        """Return (log time, bytes) of the messages of a topic."""
        return [(when, data) for name, when, _, data in self.messages if name == topic]

    @property
    def topics(self):
        """Return the topics that have messages."""
        return {message[0] for message in self.messages}


def check_with_rosbags(folder, files):
    """
    Read a bag with another implementation of rosbag2: topics, types, counts, times and bytes.

    :param files: its files, as the library of MCAP reads them.
    """
    written = sorted(
        (topic, when, data) for file in files for topic, when, _, data in file.messages
    )
    with AnyReader([folder]) as reader:
        found = [
            (connection.topic, when, bytes(data)) for connection, when, data in reader.messages()
        ]
        assert sorted(found) == written and reader.message_count == len(written)
        counts = {each.topic: each.msgcount for each in reader.connections}
        assert counts == Counter(topic for topic, _, _ in written)
        types = {each.topic: each.msgtype for each in reader.connections}
        for topic, _, data in written[::50]:
            reader.deserialize(data, types[topic])


def plain(value):
    """Return a message of any library as plain values."""
    if isinstance(value, (str, int, float, np.number)):
        return value
    if isinstance(value, bytes):
        return value[0] if len(value) == 1 else list(value)
    if hasattr(value, 'get_fields_and_field_types'):
        return {name: plain(getattr(value, name)) for name in value.get_fields_and_field_types()}
    if hasattr(value, '__slots__') and not hasattr(value, '__len__'):
        return {name: plain(getattr(value, name)) for name in value.__slots__}
    return [plain(each) for each in value]


def stamp_of(value):
    """Return the stamp of a decoded message in nanoseconds, None when it has none."""
    if getattr(value, 'transforms', None) or hasattr(value, 'header') or hasattr(value, 'clock'):
        return ns_of(value)
    return None
