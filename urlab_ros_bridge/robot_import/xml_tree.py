# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""XML as urdfdom reads it: prefixes that nobody declares, and lines before the declaration."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from xml.parsers import expat

_UTF16 = (b'\xff\xfe', b'\xfe\xff')
_COMMENT = re.compile(rb'<!--.*?-->', re.DOTALL)
_NOT_AN_ELEMENT = re.compile(rb'<!--.*?-->|<[?!][^>]*>', re.DOTALL)
_ELEMENT = re.compile(rb'<([^\s/>]+)')


class BadXml(ValueError):
    """A text is not XML; the message has line and column."""


def parse_xml(text: str | bytes) -> ElementTree.Element:
    """
    Return the root of a text; a tag with a prefix stays as it is written.

    :raises BadXml: when it is no XML.
    """
    content = _from_first_tag(text.encode() if isinstance(text, str) else text)
    builder = ElementTree.TreeBuilder()
    try:
        # Not the parser of ElementTree, which demands that every prefix is declared.
        parser = expat.ParserCreate('utf-8' if isinstance(text, str) else None)
        parser.buffer_text = True
        parser.StartElementHandler = builder.start
        parser.EndElementHandler = builder.end
        parser.CharacterDataHandler = builder.data
        parser.Parse(content, True)
        return builder.close()
    except (expat.ExpatError, LookupError, ValueError) as error:  # or its encoding
        raise BadXml(str(error)) from error


def root_tag(content: bytes) -> str:
    """Return the name of the first element, '' when there is none."""
    found = _ELEMENT.search(_NOT_AN_ELEMENT.sub(b'', content))
    return found[1].decode(errors='replace') if found else ''


def _from_first_tag(content: bytes) -> bytes:
    """Drop what stands before the declaration, or before the first tag."""
    if content.startswith(_UTF16):
        return content
    start = content.find(b'<?xml ')
    if start < 0 or b'<' in _COMMENT.sub(b'', content[:start]):
        start = content.find(b'<')
    return content[max(start, 0) :]
