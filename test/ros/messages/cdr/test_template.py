# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0

import random

from example_counts import examples
from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import TransformStamped
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import numpy as np
import pytest
from random_messages import comparable
from random_messages import decoded
from random_messages import message_types
from random_messages import random_message
from rclpy.serialization import serialize_message
from sensor_msgs.msg import Imu
from tf2_msgs.msg import TFMessage

from urlab_ros_bridge.ros.messages.cdr.layout import FieldMismatch
from urlab_ros_bridge.ros.messages.cdr.layout import lay_out
from urlab_ros_bridge.ros.messages.cdr.layout import TemplateMismatch
from urlab_ros_bridge.ros.messages.cdr.layout import UnsupportedType
from urlab_ros_bridge.ros.messages.cdr.template import check
from urlab_ros_bridge.ros.messages.cdr.template import Template
from urlab_ros_bridge.wire.errors import UnknownName

pytestmark = pytest.mark.distro

TYPES = message_types()


@pytest.mark.parametrize('message_type', TYPES, ids=lambda item: item.__module__)
@settings(max_examples=examples(8))
@given(shape=st.integers(0, 1 << 32), before=st.integers(0, 1 << 32), after=st.integers())
def test_fields_are_written_where_the_middleware_reads(message_type, shape, before, after):
    template = Template(random_message(message_type, random.Random(shape), random.Random(before)))
    message = random_message(message_type, random.Random(shape), random.Random(after))
    for path, field in template.fields.items():
        if field.text:
            continue
        value = _plain(eval(f'message.{path}', {'message': message}))
        if field.count is None:
            template.writer(path)(value)
        elif after % 2:
            template.array(path)[...] = value
        else:
            template.writer(path)(*value)
    data = template.to_bytes()
    assert comparable(message, data) == comparable(message, serialize_message(message))
    assert decoded(message_type, data) == repr(message)
    # Nothing of the process's memory is sent.
    assert not any(data[place] for place in lay_out(message).padding)


def _plain(value):
    """Return octets as numbers."""
    if isinstance(value, bytes):
        return value[0]
    if isinstance(value, list) and value and isinstance(value[0], bytes):
        return [item[0] for item in value]
    return value


def test_a_table_writes_what_writers_write_and_reads_the_message_once():
    class Counted(dict):
        passes = 0

        def items(self):
            self.passes += 1
            return super().items()

    message = TFMessage(transforms=[TransformStamped() for _ in range(12)])
    table, single = Template(message), Template(message)
    table.fields = Counted(table.fields)
    paths = [f'transforms[{index}].transform' for index in range(12)]
    rows = np.random.default_rng(1).normal(size=(12, 7))
    table.table(paths, 'f8', 7)(rows)
    assert table.fields.passes == 1
    for path, row in zip(paths, rows.tolist(), strict=True):
        single.writer(path)(*row)
    assert table.to_bytes() == single.to_bytes()
    with pytest.raises(UnknownName):
        table.table([*paths, 'transforms[12].transform'], 'f8', 7)


def test_published_bytes_do_not_change_later():
    template = Template(PoseStamped())
    data = template.to_bytes()
    template.writer('pose.position')(1.0, 2.0, 3.0)
    assert decoded(PoseStamped, data) == repr(PoseStamped())


@pytest.mark.parametrize(
    'ask',
    [
        lambda template: template.array('orientation.x'),
        lambda template: template.array('orientation'),
        lambda template: template.array('header.frame_id'),
        lambda template: template.table(['orientation'], 'f4', 4),
        lambda template: template.table(['orientation'], 'f8', 3),
        lambda template: template.table(['header'], 'i4', 2),
        lambda template: template.writer('header'),
        lambda template: template.writer('header.frame_id'),
    ],
)
def test_a_field_is_only_what_it_is(ask):
    with pytest.raises(FieldMismatch):
        ask(Template(Imu()))


@pytest.mark.parametrize(
    ('change', 'reason'),
    [
        (lambda good: b'\x00\x00' + good[2:], 'encapsulation'),
        (lambda good: b'\x00\x07' + good[2:], 'encapsulation'),
        (lambda good: good[:-1], 'bytes'),
        (lambda good: good + bytes(4000), 'bytes'),
        (lambda good: good[:24] + b'\1' + good[25:], 'byte 24 differs'),
        (lambda good: b'', 'encapsulation'),
    ],
)
def test_an_unexpected_serialisation_is_detected(change, reason):
    with pytest.raises(TemplateMismatch, match=f'Imu.*{reason}'):
        check('Imu', lay_out(Imu()), change(serialize_message(Imu())))


def test_types_without_a_portable_layout_are_refused():
    from rosidl_parser.definition import BasicType
    from rosidl_parser.definition import UnboundedWString

    class Wide:
        SLOT_TYPES = (UnboundedWString(),)
        text = 'x'

        def get_fields_and_field_types(self):
            return {'text': 'wstring'}

    with pytest.raises(UnsupportedType, match="'text'"):
        lay_out(Wide())
    Wide.SLOT_TYPES = (BasicType('long double'),)
    with pytest.raises(UnsupportedType, match='long double'):
        lay_out(Wide())
