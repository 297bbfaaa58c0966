# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What a URI or a text defines: bundled models, MJCF, URDF and SDF files.

A definition that needs no other file goes to the server as text, so that the server may be on
another machine; one with meshes or textures goes as a path, which the server reads itself.  A URDF
is imported first as `urlab import` does it, in a process with limits: its files go to the data
folder, from which the server reads them by its rules for models from clients; it keeps copies, so
they are removed afterwards.

Files are read here only in the data folder and in ROS packages, unless `allow_absolute_paths` is
set; a path elsewhere is not looked at, and goes to the server, which has its own rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
import re
import time
from urllib.parse import unquote
from urllib.parse import urlsplit
from xml.etree import ElementTree

from urlab_ros_bridge import models
from urlab_ros_bridge.files import FileRefused
from urlab_ros_bridge.files import read_regular
from urlab_ros_bridge.files import ReadableFolders
from urlab_ros_bridge.models import object_names
from urlab_ros_bridge.models import object_path
from urlab_ros_bridge.models import robot_names
from urlab_ros_bridge.models import world_path
from urlab_ros_bridge.ros.extras.standard.results import NOT_FOUND
from urlab_ros_bridge.ros.extras.standard.results import StandardRejected
from urlab_ros_bridge.ros.parameters.data import DataParameters
from urlab_ros_bridge.wire.errors import UnknownName

# simulation_interfaces/srv/SpawnEntity.
UNSUPPORTED_FORMAT = 103
NO_RESOURCE = 104
RESOURCE_PARSE_ERROR = 106

# Format by the root element of a text.
FORMATS = {'mujoco': 'mjcf', 'robot': 'urdf', 'sdf': 'sdf'}
MODELS = ('.xml', '.mjcf', '.urdf', '.sdf')
# A description of a world with one robot: the server reads it.
SIDECARS = ('.yaml', '.yml')
BUNDLED = 'urlab'
_FILES = re.compile(r'\bfile(?:name)?\s*=')
# Elements of a URDF of which the server reads nothing, or in folders that it may not read.
_IMPORTED = ('mesh', 'ros2_control', 'sensor')
_LARGEST_TEXT = 1_000_000  # bytes; a request of the wire has 1 MiB at most
_LARGEST_FILE = 16 << 20  # bytes, as on the server
_PIECE = 1 << 14  # characters, some half a millisecond


@dataclass(frozen=True)
class Definition:
    """
    What to spawn: as text, or as the path of a file that the server reads.

    :ivar name: that the text gives, or of the file; empty for none.
    :ivar is_imported: the server does not read it, or not all of it: an SDF, or a URDF with
        meshes, joints or sensors.
    :ivar path: of the file that was read here, if there is one.
    :ivar format: ending of a file with the text, if it is imported.
    """

    name: str
    xml: str | None = None
    file: str | None = None
    is_imported: bool = False
    path: Path | None = None
    format: str = 'urdf'


def readable_folders(parameters: DataParameters) -> ReadableFolders | None:
    """Return where ROS nodes may have files read, None: everywhere."""
    if parameters.allow_absolute_paths:
        return None
    return ReadableFolders.with_packages(parameters.data_folder, Path(models.__file__).parent)


def define(uri: str, text: str, readable: ReadableFolders | None) -> Definition:
    """
    Return what a request defines; the text counts only without a URI.

    :param readable: where files may be read, None: everywhere.
    :raises StandardRejected: NO_RESOURCE, UNSUPPORTED_FORMAT, RESOURCE_PARSE_ERROR or NOT_FOUND.
    """
    if not uri:
        # The characters first: to encode a long text takes long.
        if len(text) > _LARGEST_TEXT or len(text.encode(errors='replace')) > _LARGEST_TEXT:
            raise StandardRejected(
                RESOURCE_PARSE_ERROR,
                f'resource_string has more than {_LARGEST_TEXT} bytes: put it into a file, and '
                'give its uri',
            )
        if not text.strip():
            raise StandardRejected(NO_RESOURCE, 'uri and resource_string are both empty')
        outline = _outline(text)
        return Definition(
            outline.name, xml=text, is_imported=outline.is_imported, format=FORMATS[outline.tag]
        )
    if urlsplit(uri).scheme == BUNDLED:
        return _bundled(uri)
    path = path_of(uri)
    suffix = path.suffix.lower()
    if suffix not in (*MODELS, *SIDECARS):
        raise StandardRejected(
            UNSUPPORTED_FORMAT,
            f'{path.name} must end in one of: {", ".join((*MODELS, *SIDECARS))}',
        )
    if suffix in SIDECARS or not is_there(path, readable):
        # It may be there on the machine of the server, which says so when it is not.
        return Definition(path.stem, file=str(path))
    try:
        read = read_regular if readable is None else readable.read
        content = read(path, _LARGEST_FILE)
    except FileRefused as error:
        raise StandardRejected(RESOURCE_PARSE_ERROR, f'{path}: {error}') from None
    text = content.decode('utf-8', errors='replace')
    outline = _outline(text)
    as_path = len(content) > _LARGEST_TEXT or _FILES.search(text)
    return Definition(
        outline.name or path.stem,
        xml=None if as_path else text,
        file=str(path) if as_path else None,
        is_imported=outline.is_imported,
        path=path,
    )


def is_there(path: Path, readable: ReadableFolders | None) -> bool:
    """Return whether a file or folder is where ROS nodes may have it read, and exists."""
    try:
        return (readable is None or readable.find(path) is not None) and path.exists()
    except (OSError, ValueError):
        return False


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


class _Outline:
    """
    What is to be known here of a definition; a target of XMLParser, which builds no tree.

    :ivar name: that the definition gives itself, made fit for the simulation.
    """

    def __init__(self) -> None:
        self.tag = self.name = ''
        self.is_imported = False

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        """Refuse a document type: entities multiply."""
        raise StandardRejected(RESOURCE_PARSE_ERROR, 'document types are not allowed (<!DOCTYPE)')

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Begin an element."""
        if not self.tag:
            self.tag = tag
            name = attributes.get('model' if tag == 'mujoco' else 'name', '')
            self.name = re.sub(r'\W', '_', name, flags=re.ASCII)
            self.is_imported = tag == 'sdf'
        elif self.tag == 'sdf' and tag == 'model' and not self.name:
            self.name = re.sub(r'\W', '_', attributes.get('name', ''), flags=re.ASCII)
        elif self.tag == 'robot':
            moves = tag == 'joint' and attributes.get('type', 'fixed') != 'fixed'
            has_namespace = tag.startswith('{')  # macros, perhaps
            self.is_imported |= moves or has_namespace or tag in _IMPORTED


def _outline(text: str) -> _Outline:
    """
    Return the outline of a definition.

    :raises StandardRejected: for a text that is no XML, or XML of another format.
    """
    outline = _Outline()
    parser = ElementTree.XMLParser(target=outline)
    try:
        for start in range(0, len(text), _PIECE):
            parser.feed(text[start : start + _PIECE])
            time.sleep(0)  # lets the threads that publish run
        parser.close()
    except (ElementTree.ParseError, ValueError) as error:
        # The import reads more than this parser does.
        if outline.tag != 'robot':
            raise StandardRejected(RESOURCE_PARSE_ERROR, f'not well-formed XML: {error}') from None
        outline.is_imported = True
    if outline.tag not in FORMATS:
        kinds = ' or '.join(f'<{tag}> ({name})' for tag, name in FORMATS.items())
        raise StandardRejected(
            UNSUPPORTED_FORMAT, f'the root is <{outline.tag:.80}>, must be {kinds}'
        )
    return outline
