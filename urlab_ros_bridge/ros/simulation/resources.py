# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What a URI or a text defines: bundled objects, MJCF and URDF files.

A definition that needs no other file goes to the server as text, so that the server may be on
another machine; one with meshes or textures goes as a path, which the server reads itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
import re
from urllib.parse import unquote
from urllib.parse import urlsplit
from xml.etree import ElementTree

from urlab_ros_bridge.models import object_path
from urlab_ros_bridge.models import UnknownObject
from urlab_ros_bridge.ros.simulation.results import NOT_FOUND
from urlab_ros_bridge.ros.simulation.results import Refusal

# simulation_interfaces/srv/SpawnEntity.
UNSUPPORTED_FORMAT = 103
NO_RESOURCE = 104
RESOURCE_PARSE_ERROR = 106

# Format by the root element of a text.
FORMATS = {'mujoco': 'mjcf', 'robot': 'urdf'}
SUFFIXES = ('.xml', '.mjcf', '.urdf')
BUNDLED = 'urlab'
_FILES = re.compile(r'\bfile(?:name)?\s*=')
_LARGEST = 32 * 1024 * 1024


@dataclass(frozen=True)
class Definition:
    """
    What to spawn: as text, or as the path of a file that the server reads.

    :ivar name: that the text gives, or of the file; empty for none.
    """

    name: str
    xml: str | None = None
    file: str | None = None


def define(uri: str, text: str) -> Definition:
    """
    Return what a request defines; the text counts only without a URI.

    :raises Refusal: NO_RESOURCE, UNSUPPORTED_FORMAT, RESOURCE_PARSE_ERROR or NOT_FOUND.
    """
    if not uri:
        if not text.strip():
            raise Refusal(NO_RESOURCE, 'uri and resource_string are both empty')
        return Definition(_name_in(text), xml=text)
    bundled = _bundled(uri)
    if bundled:
        return Definition(bundled, xml=object_path(bundled).read_text(encoding='utf-8'))
    path = path_of(uri)
    if path.suffix.lower() not in SUFFIXES:
        raise Refusal(
            UNSUPPORTED_FORMAT, f'{path.name} is none of: {", ".join(SUFFIXES)} (MJCF, URDF)'
        )
    if not path.is_file():
        # It may be there on the machine of the server, which says so when it is not.
        return Definition(path.stem, file=str(path))
    if path.stat().st_size > _LARGEST:
        raise Refusal(RESOURCE_PARSE_ERROR, f'{path} is larger than {_LARGEST} bytes')
    text = path.read_text(encoding='utf-8', errors='replace')
    name = _name_in(text) or path.stem
    if _FILES.search(text):
        return Definition(name, file=str(path))
    return Definition(name, xml=text)


def _bundled(uri: str) -> str:
    """Return the name of a bundled object, empty for another URI."""
    parts = urlsplit(uri)
    if parts.scheme != BUNDLED:
        return ''
    name = f'{parts.netloc}{parts.path}'.strip('/')
    try:
        object_path(name)
    except UnknownObject as error:
        raise Refusal(NOT_FOUND, str(error)) from None
    return name


def path_of(uri: str) -> Path:
    """
    Return the path that a file: or package: URI, or an absolute path, means.

    :raises Refusal: for another scheme, a relative path, or a package that is not installed.
    """
    parts = urlsplit(uri)
    if parts.scheme == 'package':
        return _share(parts.netloc) / unquote(parts.path).lstrip('/')
    if parts.scheme not in ('', 'file'):
        raise Refusal(
            UNSUPPORTED_FORMAT,
            f'{uri}: the scheme {parts.scheme!r} is none of: {BUNDLED}, file, package',
        )
    path = Path(unquote(parts.path) if parts.scheme else uri)
    if not path.is_absolute() or parts.netloc not in ('', 'localhost'):
        raise Refusal(NOT_FOUND, f'{uri} is no absolute path (file:///folder/name.xml)')
    return path


def _share(package: str) -> Path:
    from ament_index_python.packages import get_package_share_directory
    from ament_index_python.packages import PackageNotFoundError

    try:
        return Path(get_package_share_directory(package))
    except (PackageNotFoundError, ValueError) as error:
        raise Refusal(NOT_FOUND, f'package {package!r}: {error}') from None


def _name_in(text: str) -> str:
    """
    Return the name that a definition gives itself, made fit for the simulation.

    :raises Refusal: for a text that is no XML, or XML of another format.
    """
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise Refusal(RESOURCE_PARSE_ERROR, f'no sound XML: {error}') from None
    if root.tag not in FORMATS:
        kinds = ' or '.join(f'<{tag}> ({name})' for tag, name in FORMATS.items())
        raise Refusal(UNSUPPORTED_FORMAT, f'the root is <{root.tag}>, must be {kinds}')
    name = root.get('model' if root.tag == 'mujoco' else 'name', '')
    return re.sub(r'\W', '_', name, flags=re.ASCII)
