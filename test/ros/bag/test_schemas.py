# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Every type that the bridge speaks has a schema by which others decode its messages."""

from bag_reader import plain
from mcap.records import Schema
from mcap_ros2.decoder import DecoderFactory
import pytest
from rclpy.serialization import serialize_message

from urlab_ros_bridge.ros.bag.errors import SchemaMissing
from urlab_ros_bridge.ros.bag.schemas import schema_of
from urlab_ros_bridge.ros.bag.schemas import type_hash_of
from urlab_ros_bridge.ros.program.features import FEATURES
from urlab_ros_bridge.ros.program.features import topics_of
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface

TOPICS = topics_of(FEATURES)

KINDS = sorted({kind for topic in TOPICS for kind in topic.types})


def fill(message):
    """Give the simple fields of a message, and those of the messages in it, values."""
    for name, text in message.get_fields_and_field_types().items():
        inner = getattr(message, name)
        if hasattr(inner, 'get_fields_and_field_types'):
            fill(inner)
        elif text == 'string':
            setattr(message, name, f'text of {name}')
        elif text in ('double', 'float'):
            setattr(message, name, -0.5)
        elif text == 'boolean':
            setattr(message, name, True)
        elif 'int' in text and isinstance(inner, int):
            setattr(message, name, 100)
        elif text.startswith('sequence<') and '/' in text:
            package, _, element = text.removeprefix('sequence<').partition('>')[0].partition('/')
            setattr(message, name, [fill(load_interface(f'{package}/msg/{element}')())] * 2)
        elif text == 'sequence<double>':
            setattr(message, name, [1.0, 2.0, 3.0])
        elif text == 'sequence<string>':
            setattr(message, name, ['a', 'bc'])
    return message


@pytest.mark.parametrize('kind', KINDS)
def test_another_library_decodes_by_the_schema(kind):
    message = fill(load_interface(kind)())
    schema = Schema(id=1, name=kind, encoding='ros2msg', data=schema_of(kind).encode())
    decode = DecoderFactory().decoder_for('cdr', schema)
    assert plain(decode(serialize_message(message))) == plain(message)


@pytest.mark.parametrize('kind', ['no_msgs/msg/Nothing', 'std_msgs/msg/Nothing'])
def test_a_type_that_is_not_installed_is_named(kind):
    with pytest.raises(SchemaMissing, match=kind):
        schema_of(kind)
    assert type_hash_of(kind) == ''
