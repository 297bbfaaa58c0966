# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
YAML files that users write, as places.

`read_yaml` is total: any file gives a `Place` or a `SchemaError`.  The size is bounded before the
file is read, and so are merge keys, which could otherwise multiply a small file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from typing import NoReturn

import yaml
from yaml.composer import Composer
from yaml.constructor import SafeConstructor

from urlab_ros_bridge.schema.places import Place
from urlab_ros_bridge.schema.places import SchemaError
from urlab_ros_bridge.schema.places import shown

MAX_BYTES = 1_000_000
MAX_KEYS = 4096


class _Refusals(Composer, SafeConstructor):
    """What is refused beyond PyYAML's safe loaders: duplicate keys and exploding merge keys."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    self.refuse(f'the key {shown(key.value)} appears twice', key)
                seen.add(key.value)
        return node

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        super().flatten_mapping(node)
        if len(node.value) > MAX_KEYS:
            self.refuse(f'a mapping has more than {MAX_KEYS} keys', node)

    def refuse(self, problem: str, node: yaml.Node) -> NoReturn:
        raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


class PythonLoader(_Refusals, yaml.SafeLoader):
    """Everything in Python."""


LOADER: type[PythonLoader | LibyamlLoader] = PythonLoader
if yaml.__with_libyaml__:

    class LibyamlLoader(_Refusals, yaml.CSafeLoader):
        """
        Text becomes events in libyaml, several times as fast; nodes and values are made in Python.

        libyaml's own composer calls itself for each level of a document, without a limit.
        """

        def __init__(self, stream: bytes) -> None:
            yaml.CSafeLoader.__init__(self, stream)
            Composer.__init__(self)

    LOADER = LibyamlLoader


def read_yaml(path: Path, error: type[SchemaError] = SchemaError) -> Place:
    """
    Return the content of a YAML file as its top place.

    Raises
    ------
    SchemaError
        Of the class `error`: the file cannot be read, is larger than 1 MB or is not YAML.
    """
    try:
        with path.open('rb') as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as problem:
        raise error(path, '', f'cannot be read: {problem}') from problem
    if len(data) > MAX_BYTES:
        raise error(path, '', f'is larger than {MAX_BYTES} bytes')
    try:
        # Both loaders build plain values only.
        return Place(yaml.load(data, Loader=LOADER), '', path, error)
    except RecursionError as problem:
        raise error(path, '', 'is nested too deeply') from problem
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, LookupError) as problem:
        # PyYAML lets the bare errors of int(), datetime and its regular expressions through.
        raise error(path, '', f'is not valid YAML: {_in_one_line(problem)}') from problem


def _in_one_line(problem: Exception) -> str:
    """Return what is wrong, and where: PyYAML writes up to six lines."""
    mark = getattr(problem, 'problem_mark', None)
    if not isinstance(problem, yaml.MarkedYAMLError) or mark is None:
        return ' '.join(str(problem).split())
    text = ', '.join(filter(None, (problem.context, problem.problem)))
    return f'line {mark.line + 1}, column {mark.column + 1}: {text}'
