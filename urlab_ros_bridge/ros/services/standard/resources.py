# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What a URI or a text defines: bundled models, MJCF and URDF files.

A definition that needs no other file goes to the server as text, so that the server may be on
another machine; one with meshes or textures goes as a path, which the server reads itself.  A URDF
is imported first as `urlab import` does it, in a process with limits: its files go to the data
folder, from which the server reads them by its rules for models from clients; it keeps copies, so
they are removed afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
import math
from pathlib import Path
import re
import resource
import subprocess
import sys
import tempfile
from urllib.parse import unquote
from urllib.parse import urlsplit
from xml.etree import ElementTree

import yaml

from urlab_ros_bridge.files import default_data_dir
from urlab_ros_bridge.interpreters import find_python
from urlab_ros_bridge.lifeline import tied
from urlab_ros_bridge.models import object_names
from urlab_ros_bridge.models import object_path
from urlab_ros_bridge.models import robot_names
from urlab_ros_bridge.models import world_path
from urlab_ros_bridge.ros.bag.parameters import BagParameters
from urlab_ros_bridge.ros.services.standard.base import NOT_FOUND
from urlab_ros_bridge.ros.services.standard.base import SimulationContext
from urlab_ros_bridge.ros.services.standard.base import StandardRejected
from urlab_ros_bridge.wire.addresses import is_loopback
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


# simulation_interfaces/srv/SpawnEntity.
MISSING_ASSETS = 107

_SECONDS = 60
_BYTES = 4 << 30
_MISSING = re.compile(r'meshes cannot be used|was not found')


@dataclass(frozen=True)
class ImportedModel:
    """
    What the server reads in place of a URDF.

    :ivar file: sidecar of a robot, MJCF of an object.
    :ivar height: of the origin of a robot that stands on the floor (m).
    """

    file: str
    height: float


@contextmanager
def imported(context: SimulationContext, definition: Definition) -> Iterator[ImportedModel | None]:
    """
    Import a URDF as long as the context lasts.

    None: it is no URDF, or one without meshes, joints and sensors, which the server reads as well;
    or the server is on another machine, or MuJoCo is not installed here.

    :raises StandardRejected: MISSING_ASSETS or RESOURCE_PARSE_ERROR, with the reason.
    """
    robot = None if definition.urdf is None else ElementTree.fromstring(definition.urdf)
    moves = robot is not None and _is_robot(robot)
    can_import = is_loopback(context.client.host) and find_python(('mujoco',)) is not None
    if robot is None or not (moves or robot.find('.//mesh') is not None) or not can_import:
        yield None
        return
    data = Path(context.settings(BagParameters).data_dir or default_data_dir())
    data.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix='spawned_', dir=data) as folder:
        source = definition.path or Path(folder, 'robot.urdf')
        if definition.path is None:
            source.write_text(definition.urdf or '', encoding='utf-8')
        _import(source, Path(folder))
        (sidecar,) = Path(folder).glob('*.yaml')
        if moves:
            height = yaml.safe_load(sidecar.read_text())['articulations'][0]['pose']['pos'][2]
            yield ImportedModel(str(sidecar), height)
        else:
            yield ImportedModel(str(sidecar.with_suffix('.xml')), -math.inf)


def _is_robot(robot: ElementTree.Element) -> bool:
    """Return whether something of it moves or senses; else it is an object."""
    joints = robot.findall('joint')
    return any(joint.get('type') != 'fixed' for joint in joints) or any(
        robot.find(f'.//{tag}') is not None for tag in ('sensor', 'ros2_control')
    )


def _import(source: Path, folder: Path) -> None:
    command = [sys.executable, '-m', 'urlab_ros_bridge.cli.main', 'import', str(source)]
    process = subprocess.Popen(
        tied([*command, '--out', str(folder), '--log-level', 'error']),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    resource.prlimit(process.pid, resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    resource.prlimit(process.pid, resource.RLIMIT_AS, (_BYTES, _BYTES))
    try:
        _, text = process.communicate(timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise StandardRejected(
            RESOURCE_PARSE_ERROR, f'{source.name}: the import took more than {_SECONDS} s'
        ) from None
    if process.returncode:
        said = re.search(r'^error: (.*)', text, re.DOTALL | re.MULTILINE)
        last = (text.strip() or f'ended with code {process.returncode}').splitlines()[-1]
        problem = said[1].strip() if said else last
        code = MISSING_ASSETS if _MISSING.search(problem) else RESOURCE_PARSE_ERROR
        raise StandardRejected(code, f'urlab import: {problem}')
