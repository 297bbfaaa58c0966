# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0

import random
from types import SimpleNamespace

from example_counts import examples
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import pytest
from random_messages import random_message
from rclpy.serialization import deserialize_message
from rclpy.serialization import serialize_message
from rosidl_parser.definition import BasicType
from rosidl_parser.definition import UnboundedWString
from sensor_msgs.msg import Imu
import std_msgs.msg

from urlab_ros_bridge.ros.messages.cdr.layout import FieldMismatch
from urlab_ros_bridge.ros.messages.cdr.layout import lay_out
from urlab_ros_bridge.ros.messages.cdr.layout import TemplateMismatch
from urlab_ros_bridge.ros.messages.cdr.layout import UnsupportedType
from urlab_ros_bridge.ros.messages.cdr.template import check
from urlab_ros_bridge.ros.messages.cdr.template import Template
from urlab_ros_bridge.ros.program.features import FEATURES
from urlab_ros_bridge.ros.program.features import topics_of
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface

pytestmark = pytest.mark.distro

# All that the bridge speaks, and those with arrays of every primitive type.
TYPES = {load_interface(kind) for topic in topics_of(FEATURES) for kind in topic.types}
TYPES |= {item for item in vars(std_msgs.msg).values() if hasattr(item, 'SLOT_TYPES')}
BY_NAME = sorted(TYPES, key=lambda item: item.__module__)


@pytest.mark.parametrize('message_type', BY_NAME, ids=lambda item: item.__module__)
@settings(max_examples=examples(4))
@given(shape=st.integers(0, 1 << 32), before=st.integers(0, 1 << 32), after=st.integers())
def test_fields_are_written_where_the_middleware_reads(message_type, shape, before, after):
    first = random_message(message_type, random.Random(shape), random.Random(before))
    message = random_message(message_type, random.Random(shape), random.Random(after))
    template = Template(first)
    published = template.to_bytes()
    for path, field in template.fields.items():
        if field.text:
            continue
        value = plain(eval(f'message.{path}', {'message': message}))
        if field.count is None:
            template.writer(path)(value)
        elif after % 2:
            template.array(path)[...] = value
        else:
            template.writer(path)(*value)
    data = template.to_bytes()
    assert comparable(message, data) == comparable(message, serialize_message(message))
    assert repr(deserialize_message(data, message_type)) == repr(message)
    # Nothing of the process's memory is sent, and what was published does not change later.
    assert not any(data[place] for place in lay_out(message).padding)
    assert repr(deserialize_message(published, message_type)) == repr(first)


def comparable(message, serialized):
    """Clear what CDR leaves open: padding, options in the header, what trails the last field."""
    layout = lay_out(message)
    data = bytearray(serialized)
    for offset in (2, 3, *layout.padding, *range(len(layout.data), len(data))):
        data[offset] = 0
    return bytes(data)


def plain(value):
    """Return octets as numbers."""
    if isinstance(value, bytes):
        return value[0]
    if isinstance(value, list) and value and isinstance(value[0], bytes):
        return [item[0] for item in value]
    return value


def test_a_field_is_only_what_it_is_and_a_type_needs_a_portable_layout():
    template = Template(Imu())
    for ask in (
        lambda: template.array('orientation'),
        lambda: template.array('header.frame_id'),
        lambda: template.table(['orientation'], 'f4', 4),
        lambda: template.table(['orientation'], 'f8', 3),
        lambda: template.writer('header'),
        lambda: template.writer('header.frame_id'),
    ):
        with pytest.raises(FieldMismatch):
            ask()
    for kind in (UnboundedWString(), BasicType('long double')):
        fields = {'text': ''}.copy
        odd = SimpleNamespace(text='x', SLOT_TYPES=[kind], get_fields_and_field_types=fields)
        with pytest.raises(UnsupportedType):
            lay_out(odd)


def test_an_unexpected_serialisation_is_detected():
    good = serialize_message(Imu())
    for bad in (b'\x00\x07' + good[2:], good[:-1], good[:24] + b'\1' + good[25:]):
        with pytest.raises(TemplateMismatch, match='Imu'):
            check('Imu', lay_out(Imu()), bad)
