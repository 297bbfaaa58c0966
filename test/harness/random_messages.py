# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Random messages of any type."""

import array
import importlib
import random
import string

from rosidl_parser.definition import AbstractNestedType
from rosidl_parser.definition import AbstractString
from rosidl_parser.definition import Array
from rosidl_parser.definition import BasicType
from rosidl_parser.definition import NamespacedType


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
        return array.array(typename[0], items)
    return items


def _primitive(typename, values):
    if typename == 'boolean':
        return values.random() < 0.5
    if typename == 'octet':
        return bytes([values.randrange(256)])
    if typename in ('float', 'double'):
        # Exact in float32 too, so that both ways round alike.
        plain = values.randrange(-1 << 20, 1 << 20) / 1024
        return values.choice([0.0, -0.0, plain, float('inf'), -float('inf')])
    bits = int(typename.lstrip('uint'))
    low = 0 if typename.startswith('u') else -(1 << bits - 1)
    return values.randrange(low, low + (1 << bits))
