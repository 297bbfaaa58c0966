# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Every type that the bridge speaks has a schema by which others decode its messages."""

from random import Random

from bag_reader import plain
from mcap.records import Schema
from mcap_ros2.decoder import DecoderFactory
import pytest
from random_messages import random_message
from rclpy.serialization import serialize_message

from urlab_ros_bridge.ros.extras.bag.errors import SchemaMissing
from urlab_ros_bridge.ros.extras.bag.schemas import schema_of
from urlab_ros_bridge.ros.extras.bag.schemas import type_hash_of
from urlab_ros_bridge.ros.program.features import FEATURES
from urlab_ros_bridge.ros.program.features import topics_of
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface

TOPICS = topics_of(FEATURES)

KINDS = sorted({kind for topic in TOPICS for kind in topic.types})


@pytest.mark.parametrize('kind', KINDS)
def test_another_library_decodes_by_the_schema(kind):
    message = random_message(load_interface(kind), Random(4), Random(5))
    schema = Schema(id=1, name=kind, encoding='ros2msg', data=schema_of(kind).encode())
    decode = DecoderFactory().decoder_for('cdr', schema)
    assert plain(decode(serialize_message(message))) == plain(message)


def test_a_type_that_is_not_installed_is_named():
    with pytest.raises(SchemaMissing, match='no_msgs/msg/Nothing'):
        schema_of('no_msgs/msg/Nothing')
    assert type_hash_of('no_msgs/msg/Nothing') == ''
