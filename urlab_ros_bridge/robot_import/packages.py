# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Find the files that a URDF names: `package://`, `model://`, `file://` and plain paths."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
import os
from pathlib import Path
from urllib.parse import unquote
import xml.etree.ElementTree as ElementTree

from urlab_ros_bridge.files import ReadableFolders
from urlab_ros_bridge.robot_import.errors import PackageNotFound

_PACKAGE_SCHEMES = ('package://', 'model://')


class Packages:
    """
    Finds ROS packages and files in them.

    In this order: the given folders, the ament index (`AMENT_PREFIX_PATH`), `ROS_PACKAGE_PATH`,
    and the folders above the robot's file: one that is the package, by name or package.xml, or
    has it as a sub-folder.
    """

    def __init__(
        self,
        start: Path,
        given: Mapping[str, Path],
        environ: Mapping[str, str] = os.environ,
        readable: ReadableFolders | None = None,
    ) -> None:
        """
        Prepare; nothing is looked up yet.

        :param start: folder of the robot's file, absolute; relative paths start here.
        :param given: folders by package name.
        :param readable: of the folders above the robot's file only those there are looked into.
        """
        self._start = start
        self._readable = readable
        self._given = given
        self._environ = environ
        self._found: dict[str, Path] = {}

    def file(self, name: str) -> Path:
        """
        Return the path that a file name of the URDF stands for; the file may be missing.

        :raises PackageNotFound: listing the places where the package was looked up.
        """
        for scheme in _PACKAGE_SCHEMES:
            if name.startswith(scheme):
                package, _, rest = unquote(name[len(scheme) :]).lstrip('/').partition('/')
                return self.folder(package) / rest.lstrip('/')
        if name.startswith('file://'):
            return Path(unquote(name.removeprefix('file://')))
        return self._start / name

    def folder(self, package: str) -> Path:
        """
        Return the folder of a package.

        :raises PackageNotFound: listing the places where it was looked up.
        """
        if package not in self._found:
            places = list(self._places(package))
            for _, folder in places:
                if folder is not None and folder.is_dir():
                    self._found[package] = folder
                    break
            else:
                raise PackageNotFound(package, (text for text, _ in places))
        return self._found[package]

    def _places(self, package: str) -> Iterator[tuple[str, Path | None]]:
        """Yield each place as text, with the folder that it gives, in order."""
        yield '--package-path', self._given.get(package)
        for prefix in _folders(self._environ.get('AMENT_PREFIX_PATH', '')):
            marker = prefix / 'share/ament_index/resource_index/packages' / package
            yield str(prefix), prefix / 'share' / package if marker.is_file() else None
        for folder in _folders(self._environ.get('ROS_PACKAGE_PATH', '')):
            yield str(folder), _package_in(folder, package)
        for folder in (self._start, *self._start.parents):
            if self._readable is not None and self._readable.find(folder) is None:
                continue
            yield str(folder), folder if _is_package(folder, package) else folder / package


def _folders(text: str) -> list[Path]:
    return [Path(part) for part in text.split(os.pathsep) if part]


def _package_in(folder: Path, package: str) -> Path | None:
    """Return the package in a folder of `ROS_PACKAGE_PATH`, which is crawled as rospack does."""
    if (folder / package).is_dir() or _is_package(folder, package):
        return folder / package if (folder / package).is_dir() else folder
    manifests = sorted(folder.rglob('package.xml'))
    return next((m.parent for m in manifests if _is_package(m.parent, package)), None)


def _is_package(folder: Path, package: str) -> bool:
    """Return whether a folder is the package: by its package.xml, else by its name."""
    try:
        name = ElementTree.parse(folder / 'package.xml').getroot().findtext('name', '')
    except (OSError, ElementTree.ParseError):
        return folder.name == package
    return name.strip() == package
