# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of the import: one class a cause."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from pathlib import Path

from urlab_ros_bridge.wire.errors import UrlabError

_SHOWN = 12  # names in a message


class RobotImportError(UrlabError):
    """A robot cannot be imported."""


class InvalidDescription(RobotImportError, ValueError):
    """A file is not a robot description that can be read; the message gives the reason."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f'{path}: {problem}')


class MissingExtra(RobotImportError, ImportError):
    """A Python package of an extra is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f'{purpose} needs the Python package {package!r}: run "urlab setup --with {extra}"'
        )


class PackageNotFound(RobotImportError, LookupError):
    """A ROS package is in none of the places where packages are looked up."""

    def __init__(self, name: str, places: Iterable[str]) -> None:
        super().__init__(
            f'the ROS package {name!r} was not found; looked in: {"; ".join(places)}. '
            f'Give its folder with --package-path {name}=DIR'
        )


class FilesExist(RobotImportError, FileExistsError):
    """An import would replace files, which may be the user's own."""

    def __init__(self, folder: Path, names: Iterable[str]) -> None:
        super().__init__(
            f'{folder} has {", ".join(names)} already; --overwrite replaces them, '
            '--out DIR writes to another folder'
        )


class MissingMeshes(RobotImportError, FileNotFoundError):
    """Meshes are missing or unreadable; the message names each with the reason."""

    def __init__(self, reasons: Mapping[str, str]) -> None:
        self.reasons = dict(reasons)
        listed = [f'{name}: {reason}' for name, reason in list(reasons.items())[:_SHOWN]]
        more = len(reasons) - len(listed)
        if more > 0:
            listed.append(f'and {more} more')
        super().__init__(
            f'{len(reasons)} meshes cannot be used (--allow-missing-meshes leaves them out):\n  '
            + '\n  '.join(listed)
        )
