# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""XML of clients as a tree: no document type, no entities, bounded in size, depth and count."""

from __future__ import annotations

import time
from typing import Any
from xml.etree import ElementTree

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.model.client_models import limits
from urlab_ros_bridge.sim.model.client_models.limits import too_large

_PIECE = 1 << 14  # characters, some half a millisecond


class _BoundedTreeBuilder(ElementTree.TreeBuilder):
    """Builds the tree of a document; refuses what no model needs."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self._what, self._depth, self._count = what, 0, 0

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        """Refuse a document type: entities multiply, and read files."""
        raise OpError('import_failed', f'{self._what} has a document type (<!DOCTYPE ...>)')

    def start(self, tag: str, attrs: dict[str, str]) -> ElementTree.Element:
        """Begin an element."""
        self._depth += 1
        self._count += 1
        if self._depth > limits.DEPTH:
            raise too_large(f'{self._what}: nested elements', self._depth, limits.DEPTH)
        if self._count > limits.ELEMENTS:
            raise too_large(f'{self._what}: elements', 'more', limits.ELEMENTS)
        return super().start(tag, attrs)

    def end(self, tag: str) -> ElementTree.Element:
        """End an element."""
        self._depth -= 1
        return super().end(tag)

    def data(self, data: str) -> None:
        """Leave text out: neither MJCF nor URDF has any."""


def parse(text: str | bytes, what: str) -> ElementTree.Element:
    """
    Return the root of a document; it holds elements and attributes only.

    :param what: names the document in messages.
    :raises OpError: import_failed.
    """
    if len(text) > limits.CHARACTERS:
        raise too_large(f'{what}: characters', len(text), limits.CHARACTERS)
    if isinstance(text, bytes):
        try:
            text = text.decode('utf-8-sig')
        except UnicodeDecodeError as error:
            raise OpError('import_failed', f'{what} is not UTF-8: {error.reason}') from error
    parser: Any = ElementTree.XMLParser(target=_BoundedTreeBuilder(what))
    try:
        for start in range(0, len(text), _PIECE):
            parser.feed(text[start : start + _PIECE])
            time.sleep(0)  # lets a live loop have the interpreter
        return parser.close()
    except (ElementTree.ParseError, UnicodeEncodeError, ValueError) as error:
        raise OpError('import_failed', f'{what} is not XML: {error}') from error


__all__ = ['parse']
