# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Parsing of a document, and checks against the allow-list and the limits."""

from __future__ import annotations

from difflib import get_close_matches
import math
import re
import time
from typing import Any
from xml.etree import ElementTree

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.model.client_models import limits
from urlab_ros_bridge.sim.model.client_models import words
from urlab_ros_bridge.sim.model.client_models.limits import too_large

_NUMBERS = re.compile(r'\s*\+?\d{1,18}(\s+\+?\d{1,18})*\s*')
_BYTES = re.compile(r'\s*(\d{1,15})\s*([KMGTPE]?)\s*')  # <size memory>


def check(root: ElementTree.Element) -> None:
    """
    Check elements and attributes against the allow-list and the limits.

    :raises OpError: import_failed.
    """
    _check_element(root)
    copies = _repeated(root) - sum(1 for _ in root.iter())
    if copies > limits.COPIES:
        raise too_large('copies of elements', copies, limits.COPIES)
    vertices = sum(_generated_vertices(mesh) for mesh in root.iter('mesh'))
    if not vertices <= limits.GENERATED_VERTICES:
        raise too_large('vertices of built-in meshes', vertices, limits.GENERATED_VERTICES)


def check_names(root: ElementTree.Element) -> None:
    """
    Check the names of elements, which are kept, logged and sent to every client.

    :raises OpError: import_failed.
    """
    for element in root.iter():
        name = element.get('name', '')
        if len(name) > limits.NAME_CHARACTERS:
            raise too_large(
                f'name of <{element.tag}>: characters', len(name), limits.NAME_CHARACTERS
            )
        if not name.isprintable():
            raise OpError(
                'import_failed',
                f'name of <{element.tag}>: {name!r} has line breaks or control characters',
            )


def _generated_vertices(mesh: ElementTree.Element) -> float:
    """Return about how many vertices a built-in mesh has, by its resolution."""
    if 'builtin' not in mesh.attrib:
        return 0
    try:
        # A resolution is the first parameter, or the first two.
        numbers = [float(word) for word in mesh.get('params', '').split()[:2]]
    except ValueError:
        return 0  # MuJoCo says what is wrong
    return max([1.0, *numbers]) ** 2 if all(map(math.isfinite, numbers)) else math.inf


def _check_element(element: ElementTree.Element) -> None:
    tag = element.tag
    if tag not in words.ELEMENTS:
        raise _unrecognized('element', tag, words.ELEMENTS)
    for name, value in element.attrib.items():
        file = (tag, name) in words.FILES or (tag, name) == words.MODEL
        folder = tag == 'compiler' and name in words.FOLDERS
        if name not in words.ATTRIBUTES and not (file or folder):
            raise _unrecognized(f'attribute of <{tag}>', name, words.ATTRIBUTES)
        if name == 'plugin' and not value.startswith(words.PLUGINS):
            raise OpError(
                'import_failed',
                f'plugin {value!r:.60}: only those of MuJoCo ({words.PLUGINS}*) are allowed',
            )
        if name == 'content_type' and value not in words.CONTENT_TYPES:
            allowed = ', '.join(sorted(words.CONTENT_TYPES))
            raise OpError('import_failed', f'content_type {value!r:.60} is not one of {allowed}')
    _check_numbers(element)
    for child in element:
        _check_element(child)


def _check_numbers(element: ElementTree.Element) -> None:
    tag = element.tag
    for name, value in element.attrib.items():
        limit = limits.MAXIMA.get((tag, name))
        if limit is None:
            continue
        if (tag, name) == ('size', 'memory') and value.strip() != '-1':
            numbers = [_memory(value)]
        else:
            numbers = _numbers(element, name)
        if max(numbers) > limit:
            raise too_large(f'{name} of <{tag}>', value.strip()[:40], limit)
    if tag == 'option':
        iterations, searches = (
            max(_numbers(element, name)) if name in element.attrib else default
            for name, default in (('iterations', 100), ('ls_iterations', 50))
        )
        if iterations * searches > limits.LINE_SEARCHES:
            asked = f'{iterations} x {searches}'
            raise too_large('iterations x ls_iterations of <option>', asked, limits.LINE_SEARCHES)
    if tag in ('texture', 'hfield'):
        first, second = ('width', 'height') if tag == 'texture' else ('nrow', 'ncol')
        both = [max(_numbers(element, name)) if name in element.attrib else 1
                for name in (first, second)]  # fmt: skip
        limit = limits.PIXELS if tag == 'texture' else limits.SIZES['nhfielddata'][1]
        if math.prod(both) > limit:
            raise too_large(f'{first} x {second} of <{tag}>', f'{both[0]} x {both[1]}', limit)


def _numbers(element: ElementTree.Element, name: str) -> list[int]:
    """Return whole numbers; signs as MuJoCo writes them for "not set" count as 0."""
    value = element.get(name, '')
    text = value.strip()
    if text in ('-1', ''):
        return [0]
    if not _NUMBERS.fullmatch(text):
        raise OpError(
            'import_failed', f'{name} of <{element.tag}>: {value!r:.60} is not a whole number'
        )
    return [int(part) for part in text.split()]


def _memory(value: str) -> int:
    found = _BYTES.fullmatch(value)
    if found is None:
        raise OpError('import_failed', f'memory of <size>: {value!r:.60} is not a size')
    return int(found[1]) << (10 * ' KMGTPE'.index(found[2] or ' '))


def _repeated(element: ElementTree.Element) -> int:
    """
    Return the number of elements that an element expands to.

    :raises OpError: import_failed, naming the count that is too large.
    """
    total = 1 + sum(_repeated(child) for child in element)
    if element.tag not in ('replicate', 'composite', 'flexcomp'):
        return total
    for name in ('count', 'cellcount'):
        if name not in element.attrib:
            continue
        asked = math.prod(max(number, 1) for number in _numbers(element, name))
        if asked * total > limits.COPIES:
            what = f'{name} of <{element.tag}>'
            if total > 1:
                what += f', with {total} elements in it'
            raise too_large(what, element.get(name, '').strip()[:60], limits.COPIES)
        total *= asked
    return total


def _unrecognized(what: str, name: str, valid: frozenset[str]) -> OpError:
    near = get_close_matches(name[:60], valid, n=1)
    meant = f'; did you mean {near[0]!r}?' if near else ''
    return OpError('import_failed', f'unrecognized {what}: {name!r:.60}{meant}')


_PIECE = 1 << 14  # characters, some half a millisecond


class _BoundedTreeBuilder(ElementTree.TreeBuilder):
    """Builds the tree of a document; refuses document types and excessive sizes."""

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
            time.sleep(0)  # yields the interpreter to a live loop
        return parser.close()
    except (ElementTree.ParseError, UnicodeEncodeError, ValueError) as error:
        raise OpError('import_failed', f'{what} is not XML: {error}') from error
