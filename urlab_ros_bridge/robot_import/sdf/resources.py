# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Find the files that an SDF names, as Gazebo does, without a network."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
import os
from pathlib import Path
from urllib.parse import unquote
from urllib.parse import urlparse
import xml.etree.ElementTree as ElementTree

from urlab_ros_bridge.files import FileRefused
from urlab_ros_bridge.robot_import.errors import InvalidDescription
from urlab_ros_bridge.robot_import.errors import PackageNotFound
from urlab_ros_bridge.robot_import.options import ImportOptions
from urlab_ros_bridge.robot_import.packages import Packages

_VARIABLES = (
    'GZ_SIM_RESOURCE_PATH', 'IGN_GAZEBO_RESOURCE_PATH', 'SDF_PATH', 'GAZEBO_MODEL_PATH',
    'GAZEBO_RESOURCE_PATH',
)  # fmt: skip
_PARENTS = 6  # folders above a file that are searched for models
# Exporters write this in front of the URI of a mesh of a URDF that was given as a text.
_FROM_TEXT = 'file://<urdf-string>/'


class Resources:
    """Finds models, meshes and images."""

    def __init__(self, options: ImportOptions, environ: Mapping[str, str] = os.environ) -> None:
        """Prepare; folders of packages in the options take precedence."""
        self._options = options
        self._given = options.package_paths
        self._environ = environ

    def read(self, path: Path) -> bytes:
        """
        Return the content of a file.

        :raises FileRefused: with the reason.
        """
        return self._options.read(path)

    def exists(self, path: Path) -> bool:
        """Return whether a file or folder is there, and may be read."""
        readable = self._options.readable
        return (readable is None or readable.find(path) is not None) and path.exists()

    def file(self, uri: str, here: Path) -> Path:
        """
        Return the file that a URI stands for; it may be missing.

        :param here: the file that has the URI.
        :raises PackageNotFound: listing the places where it was looked up.
        """
        uri = uri.strip().removeprefix(_FROM_TEXT)
        scheme, _, rest = uri.partition('://')
        if scheme in ('http', 'https') and rest:
            return self._from_fuel(uri)
        if scheme in ('model', 'package') and rest:
            return self._in_model(unquote(rest).lstrip('/'), here)
        if scheme == 'file' and rest:
            path = Path(unquote(rest))
            return path if path.is_absolute() else self._beside(path, here)
        return self._beside(Path(uri), here)

    def _beside(self, path: Path, here: Path) -> Path:
        """Return a relative path from the file, or from the folders of resources."""
        places = [here.parent, *self._folders(), *list(here.parents)[1:_PARENTS]]
        found = (place / path for place in places if self.exists(place / path))
        return next(found, None) or self._lost(path) or here.parent / path

    def _lost(self, path: Path) -> Path | None:
        """Return a file of a model whose name the URI has lost, as in exported worlds."""
        if path.is_absolute() or '..' in path.parts or len(path.parts) < 2:
            return None
        models = (model / path for folder in self._folders() for model in sorted(folder.glob('*')))
        return next((file for file in models if self.exists(file)), None)

    def _in_model(self, path: str, here: Path) -> Path:
        name, _, rest = path.partition('/')
        places = list(self._places(name, here))
        for place in places:
            if self.exists(place / rest):
                return place / rest
        try:
            readable = self._options.readable
            packages = Packages(here.parent, self._given, self._environ, readable)
            return packages.folder(name) / rest
        except PackageNotFound:
            raise PackageNotFound(
                name, map(str, dict.fromkeys(p.parent for p in places))
            ) from None

    def _places(self, name: str, here: Path) -> Iterator[Path]:
        if name in self._given:
            yield self._given[name]
        for folder in self._folders():
            yield folder / name
        for folder in list(here.parents)[:_PARENTS]:
            if folder.name == name:
                yield folder
            yield folder / name
            yield folder / 'models' / name

    def _folders(self) -> list[Path]:
        """Return the folders that the environment names."""
        texts = [self._environ.get(name, '') for name in _VARIABLES]
        folders = [Path(part) for text in texts for part in text.split(os.pathsep) if part]
        for part in self._environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep):
            folders += [Path(part) / 'share'] if part else []
        return folders

    def _from_fuel(self, uri: str) -> Path:
        """
        Return what Gazebo's own download has put into the local cache.

        Its layout is HOST/OWNER/models|worlds/NAME/VERSION/..., in lower case.
        """
        url = urlparse(uri)
        parts = [unquote(part) for part in url.path.strip('/').split('/')]
        if parts and parts[0].replace('.', '').isdigit():
            parts = parts[1:]  # the version of the interface
        if len(parts) >= 3 and parts[1] in ('models', 'worlds'):
            owner, kind, name = (part.lower() for part in parts[:3])
            cache = Path(
                self._environ.get('GZ_FUEL_CACHE_PATH')
                or Path(self._environ.get('HOME', '~')).expanduser() / '.gz/fuel'
            )
            versions = sorted(
                filter(self.exists, (cache / url.netloc / owner / kind / name).glob('[0-9]*')),
                key=lambda folder: int(folder.name) if folder.name.isdigit() else 0,
            )
            rest = parts[3:]
            if rest[:1] and (rest[0].isdigit() or rest[0] == 'tip'):
                versions = [v for v in versions if v.name == rest[0]] or versions
                rest = rest[1:]
            rest = rest[1:] if rest[:1] == ['files'] else rest
            if versions:
                return versions[-1].joinpath(*rest)
        raise PackageNotFound(
            uri, [f'the local cache; `gz fuel download --url {uri}` puts it there']
        )

    def model_file(self, path: Path) -> Path:
        """
        Return the SDF file of a model: the path itself, or what `model.config` names in a folder.

        :raises InvalidDescription: when there is none.
        """
        if not (self.exists(path) and path.is_dir()):
            return path
        try:
            root = ElementTree.fromstring(self.read(path / 'model.config'))
        except (FileRefused, ElementTree.ParseError):
            found = sorted(path.glob('*.sdf')) + sorted(path.glob('*.world'))
            if len(found) == 1:
                return found[0]
            raise InvalidDescription(
                path, 'the folder has no readable model.config and not exactly one .sdf'
            ) from None
        files = root.findall('sdf')
        if not files:
            raise InvalidDescription(path / 'model.config', 'it names no <sdf>')
        newest = max(files, key=lambda item: _version(item.get('version', '')))
        return path / (newest.text or '').strip()


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split('.') if part.isdigit())
