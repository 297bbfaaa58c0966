# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Read bags with the libraries of others."""

from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory


class BagFile:
    """One file: `messages` as (topic, log time, publish time, bytes) in the order of the file."""

    def __init__(self, path):
        with path.open('rb') as stream:
            reader = make_reader(stream, decoder_factories=[DecoderFactory()])
            self.decoded = [
                (channel.topic, message.log_time, value)
                for _, channel, message, value in reader.iter_decoded_messages(
                    log_time_order=False
                )
            ]
            self.messages = [
                (channel.topic, m.log_time, m.publish_time, m.data)
                for _, channel, m in reader.iter_messages(log_time_order=False)
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


def stamp_of(value):
    """Return the stamp of a decoded message in nanoseconds, None when it has none."""
    if hasattr(value, 'clock'):
        stamp = value.clock
    elif hasattr(value, 'header'):
        stamp = value.header.stamp
    elif hasattr(value, 'transforms') and value.transforms:
        stamp = value.transforms[0].header.stamp
    else:
        return None
    return stamp.sec * 10**9 + stamp.nanosec
