# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
One kind of field description for everything that users write and that peers send.

A section of a file, a set of parameters or the arguments of a command is a dataclass whose fields
are made by `key`: default, text, type, bounds, choices, unit.  `read` makes an instance of it from
plain values and names the place of each mistake; documentation and `--help` come from the same
descriptions.  `read_lenient` does the same with what another program sent.
"""

from urlab_ros_bridge.schema.keys import Key
from urlab_ros_bridge.schema.keys import key
from urlab_ros_bridge.schema.keys import keys_of
from urlab_ros_bridge.schema.keys import problem_of
from urlab_ros_bridge.schema.keys import type_name
from urlab_ros_bridge.schema.places import hint
from urlab_ros_bridge.schema.places import Place
from urlab_ros_bridge.schema.places import SchemaError
from urlab_ros_bridge.schema.places import shown
from urlab_ros_bridge.schema.sections import KeyProblem
from urlab_ros_bridge.schema.sections import read
from urlab_ros_bridge.schema.yaml_files import read_yaml

__all__ = [
    'Key',
    'KeyProblem',
    'Place',
    'SchemaError',
    'hint',
    'key',
    'keys_of',
    'problem_of',
    'read',
    'read_yaml',
    'shown',
    'type_name',
]
