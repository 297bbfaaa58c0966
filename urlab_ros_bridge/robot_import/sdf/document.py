# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Read an SDF file as a tree whose elements know where they stand."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
import math
from pathlib import Path
import re
from typing import cast
from xml.etree import ElementTree
from xml.parsers import expat

import numpy as np

from urlab_ros_bridge.files import FileRefused
from urlab_ros_bridge.geometry import AT_ORIGIN
from urlab_ros_bridge.geometry import normalize
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import quaternion_of_rpy
from urlab_ros_bridge.geometry import Vector
from urlab_ros_bridge.robot_import.errors import InvalidDescription

_MAX_DEPTH, _MAX_ELEMENTS = 100, 500_000
_COMMENT = re.compile(rb'<!--.*?-->', re.DOTALL)


class SdfElement(ElementTree.Element):
    """
    An element of a file.

    :ivar source: the file that it stands in, and `line` of it.
    :ivar version: of SDF, of that file.
    :ivar parent: the element around it, None for the root.
    """

    source: Path
    line: int
    version: tuple[int, ...]
    parent: SdfElement | None

    def all(self, path: str) -> list[SdfElement]:
        """Return the elements below that a path leads to."""
        return cast(list[SdfElement], self.findall(path))

    def first(self, path: str) -> SdfElement | None:
        """Return the first element below that a path leads to, None when there is none."""
        return cast('SdfElement | None', self.find(path))

    def value(self, path: str, default: str = '') -> str:
        """Return the text of an element below, without blanks around it."""
        text = self.findtext(path)
        return default if text is None else text.strip()

    def flag(self, path: str, default: bool = False) -> bool:
        """
        Return a truth value.

        :raises InvalidDescription: when it is none.
        """
        word = self.value(path).lower()
        if word not in ('', 'true', 'false', '1', '0'):
            raise self._below(path).failure(f'{word!r:.40} is not true or false')
        return default if not word else word in ('true', '1')

    def number(self, path: str, default: float) -> float:
        """
        Return a finite number.

        :raises InvalidDescription: when it is none.
        """
        return float(self.numbers(path, [default])[0])

    def numbers(self, path: str, default: list[float]) -> np.ndarray:
        """
        Return as many finite numbers as the default has, shape (n,).

        :raises InvalidDescription: when they are not.
        """
        text = self.value(path)
        return np.array(default) if not text else self._below(path).parsed(text, len(default))

    def parsed(self, text: str, *counts: int) -> np.ndarray:
        """
        Return the finite numbers of a text, one of `counts` of them.

        :raises InvalidDescription: when they are not.
        """
        try:
            values = np.array([float(word) for word in text.split()])
        except ValueError:
            raise self.failure(f'{text!r:.60} are not numbers') from None
        if len(values) not in counts or not np.isfinite(values).all():
            wanted = ' or '.join(map(str, counts))
            raise self.failure(f'{text!r:.60} are not {wanted} finite numbers')
        return values

    def pose(self) -> Pose:
        """
        Return the pose that the child `<pose>` states, whatever it is relative to.

        :raises InvalidDescription: when it is none.
        """
        element = self.first('pose')
        text = '' if element is None else (element.text or '').strip()
        if element is None or not text:
            return AT_ORIGIN
        is_quaternion = element.get('rotation_format') == 'quat_xyzw'
        values = element.parsed(text, 7 if is_quaternion else 6).tolist()
        place: Vector = (values[0], values[1], values[2])
        if is_quaternion:
            return Pose(place, normalize(values[3:]))
        turns = values[3:]
        if element.get('degrees', 'false').lower() in ('true', '1'):
            turns = [math.radians(angle) for angle in turns]
        return Pose(place, quaternion_of_rpy(*turns))

    def relative_to(self) -> str:
        """Return the frame that the child `<pose>` is relative to, '' for the usual one."""
        element = self.first('pose')
        return '' if element is None else element.get('relative_to', '')

    def failure(self, problem: str) -> InvalidDescription:
        """Return the error of what stands here."""
        return InvalidDescription(self.source, f'line {self.line}, {self.where}: {problem}')

    @property
    def where(self) -> str:
        """Return the way to the element, as messages show it."""
        here = f'<{self.tag}>' if self.get('name') is None else f'<{self.tag} {self.get("name")}>'
        above = self.parent
        return here if above is None or above.parent is None else f'{above.where}{here}'

    def _below(self, path: str) -> SdfElement:
        found = self.first(path)
        return self if found is None else found


def new_element(tag: str, at: SdfElement, attributes: dict[str, str]) -> SdfElement:
    """Return an element that stands where another one does."""
    made = SdfElement(tag, attributes)
    made.source, made.line, made.version, made.parent = at.source, at.line, at.version, at
    return made


def read_sdf(path: Path, read: Callable[[Path], bytes]) -> SdfElement:
    """
    Return the element `sdf` of a file.

    :param read: returns its content, or raises FileRefused.
    :raises InvalidDescription: naming line and element.
    """
    try:
        content = read(path)
    except FileRefused as error:
        raise InvalidDescription(path, str(error)) from error
    root = _parse(path, content)
    if root.tag != 'sdf':
        raise root.failure(f'the root element is <{root.tag}>, not <sdf>')
    text = root.get('version', '')
    try:
        version = tuple(int(part) for part in text.split('.'))
    except ValueError:
        raise root.failure(f'version={text!r:.20} is not a version') from None
    for element in _everything(root):
        element.version = version
    return root


def _everything(root: SdfElement) -> Iterator[SdfElement]:
    return cast(Iterator[SdfElement], root.iter())


def _parse(path: Path, content: bytes) -> SdfElement:
    parser, builder = expat.ParserCreate(), ElementTree.TreeBuilder(element_factory=SdfElement)
    stack: list[SdfElement] = []
    count = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if len(stack) >= _MAX_DEPTH or count > _MAX_ELEMENTS:
            raise InvalidDescription(
                path,
                f'line {parser.CurrentLineNumber}: more than {_MAX_ELEMENTS} elements, or '
                f'{_MAX_DEPTH} inside each other',
            )
        element = cast(SdfElement, builder.start(tag, attributes))
        element.source, element.line = path, parser.CurrentLineNumber
        element.version, element.parent = (), stack[-1] if stack else None
        stack.append(element)

    def end(tag: str) -> None:
        builder.end(tag)
        stack.pop()

    def refuse(*_: object) -> None:
        raise InvalidDescription(
            path, f'line {parser.CurrentLineNumber}: document types and entities are not read'
        )

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    # Gazebo's reader allows "--" in comments, and worlds have command lines there.
    content = _COMMENT.sub(lambda found: b'\n' * found[0].count(b'\n'), content)
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise InvalidDescription(path, f'not valid XML: {error}') from error
    return cast(SdfElement, builder.close())
