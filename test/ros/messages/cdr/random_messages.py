# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Random messages of any type, and a comparison of serialisations."""

import array
import importlib
import random
import string

from rclpy.serialization import deserialize_message
from rosidl_parser.definition import AbstractNestedType
from rosidl_parser.definition import AbstractString
from rosidl_parser.definition import Array
from rosidl_parser.definition import BasicType
from rosidl_parser.definition import NamespacedType

from urlab_ros_bridge.ros.messages.cdr.layout import lay_out

PACKAGES = (
    'builtin_interfaces',
    'diagnostic_msgs',
    'geometry_msgs',
    'nav_msgs',
    'rosgraph_msgs',
    'sensor_msgs',
    'std_msgs',
    'tf2_msgs',
    'trajectory_msgs',
    'urlab_msgs',
    'visualization_msgs',
)
BITS = {
    'int8': 8,
    'int16': 16,
    'int32': 32,
    'int64': 64,
    'uint8': 8,
    'uint16': 16,
    'uint32': 32,
    'uint64': 64,
}


def message_types():
    """Return every message type of the packages that are installed."""
    found = []
    for package in PACKAGES:
        try:
            module = importlib.import_module(f'{package}.msg')
        except ImportError:
            continue
        found += [
            item
            for name, item in sorted(vars(module).items())
            if hasattr(item, 'get_fields_and_field_types')
        ]
    return found


def random_message(message_type, shape: random.Random, values: random.Random):
    """Fill a message; `shape` alone decides on lengths and strings."""
    message = message_type()
    names = message.get_fields_and_field_types()
    for name, kind in zip(names, message_type.SLOT_TYPES, strict=True):
        setattr(message, name, _value(kind, shape, values))
    return message


def _value(kind, shape, values):
    if isinstance(kind, BasicType):
        return _primitive(kind.typename, values)
    if isinstance(kind, AbstractString):
        text = ''.join(shape.choices(string.ascii_letters + 'éß漢', k=shape.randrange(9)))
        return text[: getattr(kind, 'maximum_size', None)]
    if isinstance(kind, NamespacedType):
        module = importlib.import_module('.'.join(kind.namespaces))
        return random_message(getattr(module, kind.name), shape, values)
    assert isinstance(kind, AbstractNestedType)
    size = kind.size if isinstance(kind, Array) else shape.randrange(4)
    size = min(size, getattr(kind, 'maximum_size', size))
    items = [_value(kind.value_type, shape, values) for _ in range(size)]
    typename = getattr(kind.value_type, 'typename', '')
    if typename in ('float', 'double') and not isinstance(kind, Array):
        return array.array('f' if typename == 'float' else 'd', items)
    return items


def _primitive(typename, values):
    if typename == 'boolean':
        return values.random() < 0.5
    if typename == 'octet':
        return bytes([values.randrange(256)])
    if typename in ('float', 'double'):
        # Exact in float32 too, so that both ways round alike.
        return values.choice(
            [
                0.0,
                -0.0,
                float(values.randrange(-1 << 20, 1 << 20)) / 1024,
                float('inf'),
                -float('inf'),
            ]
        )
    bits = BITS[typename]
    low = 0 if typename.startswith('u') else -(1 << bits - 1)
    return values.randrange(low, low + (1 << bits))


def comparable(message, serialized: bytes):
    """
    Clear the bytes that CDR leaves open.

    These are the padding, the options in the header, and what trails the last field: Fast CDR
    does not clear them.
    """
    layout = lay_out(message)
    data = bytearray(serialized)
    for offset in (2, 3, *layout.padding, *range(len(layout.data), len(data))):
        data[offset] = 0
    return bytes(data)


def decoded(message_type, serialized: bytes) -> str:
    """Return what a subscriber gets, as text, in which a NaN equals itself."""
    return repr(deserialize_message(serialized, message_type))
