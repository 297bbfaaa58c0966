# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Serialised messages with a fixed layout, rewritten in place.

`Template` serialises a filled message once and then gives writers and numpy views on its fields;
a tick changes the few bytes that differ and publishes them with ``publisher.publish(bytes)``.
"""

from urlab_ros_bridge.ros.messages.cdr.errors import CdrError
from urlab_ros_bridge.ros.messages.cdr.errors import FieldMismatch
from urlab_ros_bridge.ros.messages.cdr.errors import TemplateMismatch
from urlab_ros_bridge.ros.messages.cdr.errors import UnsupportedType
from urlab_ros_bridge.ros.messages.cdr.layout import Field
from urlab_ros_bridge.ros.messages.cdr.layout import lay_out
from urlab_ros_bridge.ros.messages.cdr.layout import Layout
from urlab_ros_bridge.ros.messages.cdr.template import check as check_layout
from urlab_ros_bridge.ros.messages.cdr.template import Template

__all__ = [
    'CdrError',
    'Field',
    'FieldMismatch',
    'Layout',
    'Template',
    'TemplateMismatch',
    'UnsupportedType',
    'check_layout',
    'lay_out',
]
