# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What a URI or a text defines: bundled models, MJCF and URDF files.

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

from urlab_ros_bridge.models import object_names
from urlab_ros_bridge.models import object_path
from urlab_ros_bridge.models import robot_names
from urlab_ros_bridge.models import world_path
from urlab_ros_bridge.ros.services.standard.results import NOT_FOUND
from urlab_ros_bridge.ros.services.standard.results import StandardRejected
from urlab_ros_bridge.wire.errors import UnknownName

# simulation_interfaces/srv/SpawnEntity.
UNSUPPORTED_FORMAT = 103
NO_RESOURCE = 104
RESOURCE_PARSE_ERROR = 106

# Format by the root element of a text.
FORMATS = {'mujoco': 'mjcf', 'robot': 'urdf'}
MODELS = ('.xml', '.mjcf', '.urdf')
# A description of a world with one robot: the server reads it.
SIDECARS = ('.yaml', '.yml')
BUNDLED = 'urlab'
_FILES = re.compile(r'\bfile(?:name)?\s*=')
_LARGEST = 32 * 1024 * 1024


@dataclass(frozen=True)
class Definition:
    """
    What to spawn: as text, or as the path of a file that the server reads.

    :ivar name: that the text gives, or of the file; empty for none.
    :ivar urdf: its text, if it is a URDF that can be read here; `path` its file, if it has one.
    """

    name: str
    xml: str | None = None
    file: str | None = None
    urdf: str | None = None
    path: Path | None = None


def define(uri: str, text: str) -> Definition:
    """
    Return what a request defines; the text counts only without a URI.

    :raises StandardRejected: NO_RESOURCE, UNSUPPORTED_FORMAT, RESOURCE_PARSE_ERROR or NOT_FOUND.
    """
    if not uri:
        if not text.strip():
            raise StandardRejected(NO_RESOURCE, 'uri and resource_string are both empty')
        name, kind = _read(text)
        return Definition(name, xml=text, urdf=text if kind == 'urdf' else None)
    if urlsplit(uri).scheme == BUNDLED:
        return _bundled(uri)
    path = path_of(uri)
    suffix = path.suffix.lower()
    if suffix not in (*MODELS, *SIDECARS):
        raise StandardRejected(
            UNSUPPORTED_FORMAT,
            f'{path.name} must end in one of: {", ".join((*MODELS, *SIDECARS))}',
        )
    if suffix in SIDECARS or not path.is_file():
        # It may be there on the machine of the server, which says so when it is not.
        return Definition(path.stem, file=str(path))
    if path.stat().st_size > _LARGEST:
        raise StandardRejected(RESOURCE_PARSE_ERROR, f'{path} is larger than {_LARGEST} bytes')
    text = path.read_text(encoding='utf-8', errors='replace')
    name, kind = _read(text)
    urdf = text if kind == 'urdf' else None
    if _FILES.search(text):
        return Definition(name or path.stem, file=str(path), urdf=urdf, path=path)
    return Definition(name or path.stem, xml=text, urdf=urdf, path=path)


def _bundled(uri: str) -> Definition:
    """Return a bundled object as text, and a bundled robot as a file that the server has too."""
    parts = urlsplit(uri)
    name = f'{parts.netloc}{parts.path}'.strip('/')
    if name in object_names():
        return Definition(name, xml=object_path(name).read_text(encoding='utf-8'))
    if name in robot_names():
        return Definition(name, file=world_path(name).name)
    raise StandardRejected(
        NOT_FOUND, str(UnknownName('bundled model', name, [*object_names(), *robot_names()]))
    )


def path_of(uri: str) -> Path:
    """
    Return the path that a file: or package: URI, or an absolute path, means.

    :raises StandardRejected: for another scheme, a relative path, or a package that is not
        installed.
    """
    parts = urlsplit(uri)
    if parts.scheme == 'package':
        return _share(parts.netloc) / unquote(parts.path).lstrip('/')
    if parts.scheme not in ('', 'file'):
        raise StandardRejected(
            UNSUPPORTED_FORMAT,
            f'{uri}: the scheme {parts.scheme!r} must be one of: {BUNDLED}, file, package',
        )
    path = Path(unquote(parts.path) if parts.scheme else uri)
    if not path.is_absolute() or parts.netloc not in ('', 'localhost'):
        raise StandardRejected(
            NOT_FOUND, f'{uri} is not an absolute path (file:///folder/name.xml)'
        )
    return path


def _share(package: str) -> Path:
    from ament_index_python.packages import get_package_share_directory
    from ament_index_python.packages import PackageNotFoundError

    try:
        return Path(get_package_share_directory(package))
    except (PackageNotFoundError, ValueError) as error:
        raise StandardRejected(NOT_FOUND, f'package {package!r}: {error}') from None


def _read(text: str) -> tuple[str, str]:
    """
    Return the name that a definition gives itself, made fit for the simulation, and its format.

    :raises StandardRejected: for a text that is no XML, or XML of another format.
    """
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise StandardRejected(RESOURCE_PARSE_ERROR, f'not well-formed XML: {error}') from None
    if root.tag not in FORMATS:
        kinds = ' or '.join(f'<{tag}> ({name})' for tag, name in FORMATS.items())
        raise StandardRejected(UNSUPPORTED_FORMAT, f'the root is <{root.tag}>, must be {kinds}')
    name = root.get('model' if root.tag == 'mujoco' else 'name', '')
    return re.sub(r'\W', '_', name, flags=re.ASCII), FORMATS[root.tag]
