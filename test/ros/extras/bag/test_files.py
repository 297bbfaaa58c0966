# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A bag is a folder that others understand: its index says what is in its files."""

from collections import Counter

from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
from mcap.reader import make_reader
from rclpy.qos import DurabilityPolicy
from rclpy.qos import QoSProfile
from rclpy.qos import ReliabilityPolicy
import yaml

from urlab_ros_bridge.ros.extras.bag.files import BagFiles
from urlab_ros_bridge.ros.extras.bag.metadata import BagTopic
from urlab_ros_bridge.ros.extras.bag.metadata import qos_text

QOS = qos_text(
    QoSProfile(
        depth=7,
        reliability=ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL,
    )
)
TOPICS = {
    '/odom': BagTopic('/odom', 'nav_msgs/msg/Odometry', QOS),
    '/scan': BagTopic('/scan', 'sensor_msgs/msg/LaserScan', QOS),
    '/text': BagTopic('/text', 'std_msgs/msg/String', QOS),
}
episodes = st.lists(
    st.lists(
        st.tuples(
            st.sampled_from(sorted(TOPICS)), st.integers(1, 1 << 60), st.binary(max_size=99)
        ),
        max_size=15,
    ),
    min_size=1,
    max_size=4,
)


def index_of(folder):
    return yaml.safe_load((folder / 'metadata.yaml').read_text())['rosbag2_bagfile_information']


@settings(max_examples=20)
@given(episodes)
def test_the_index_describes_the_files(tmp_path_factory, wanted):
    folder = tmp_path_factory.mktemp('bag')
    files = BagFiles(folder, 'zstd')
    for messages in wanted:
        files.begin()
        for topic, stamp, data in messages:
            files.write(TOPICS[topic], stamp, data)
    files.close()
    index = index_of(folder)
    flat = [message for messages in wanted for message in messages]
    stamps = [stamp for _, stamp, _ in flat] or [0]
    assert index['message_count'] == len(flat) == files.messages
    assert index['starting_time']['nanoseconds_since_epoch'] == min(stamps)
    assert index['duration']['nanoseconds'] == max(stamps) - min(stamps)
    counts = Counter(topic for topic, _, _ in flat)
    rows = index['topics_with_message_count']
    assert counts == {row['topic_metadata']['name']: row['message_count'] for row in rows}
    for number, messages in enumerate(wanted):
        name, row = f'{folder.name}_{number}.mcap', index['files'][number]
        assert (row['path'], row['message_count']) == (name, len(messages))
        with (folder / name).open('rb') as stream:
            found = list(make_reader(stream).iter_messages(log_time_order=False))
        assert [(c.topic, m.log_time, m.data) for _, c, m in found] == messages


def test_topics_have_the_metadata_of_players(tmp_path):
    files = BagFiles(tmp_path, 'none')
    files.begin()
    files.write(TOPICS['/odom'], 5, b'x')
    files.close()
    (row,) = index_of(tmp_path)['topics_with_message_count']
    topic = row['topic_metadata']
    assert topic['type'] == 'nav_msgs/msg/Odometry' and topic['serialization_format'] == 'cdr'
    assert topic['type_description_hash'].startswith('RIHS01_')
    (profile,) = topic['offered_qos_profiles']
    assert (profile['history'], profile['depth']) == ('keep_last', 7)
    assert (profile['reliability'], profile['durability']) == ('best_effort', 'transient_local')
    assert profile['deadline'] == profile['lifespan'] == {'sec': 9223372036, 'nsec': 854775807}
    assert profile['liveliness'] == 'automatic' and not profile['avoid_ros_namespace_conventions']
    with (tmp_path / files.names[0]).open('rb') as stream:
        reader = make_reader(stream)
        (channel,) = reader.get_summary().channels.values()
        (record,) = [each for each in reader.iter_metadata() if each.name == 'rosbag2']
    assert yaml.safe_load(channel.metadata['offered_qos_profiles']) == [profile]
    assert channel.metadata['topic_type_hash'] == topic['type_description_hash']
    # A file by itself tells the same as a bag of this file.
    assert yaml.safe_load(record.metadata['serialized_metadata']) == index_of(tmp_path)
