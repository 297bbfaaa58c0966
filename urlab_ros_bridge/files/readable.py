# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Where the files of models may lie that other programs name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import os
from pathlib import Path

from urlab_ros_bridge.files.regular_file import FileRefused
from urlab_ros_bridge.files.regular_file import read_regular


@dataclass(frozen=True, slots=True)
class ReadableFolders:
    """
    The folders whose files ROS nodes may have read; the rest of the disk is not even looked at.

    A file elsewhere and a file that does not exist give the same error.

    :ivar roots: folders without symbolic links; what counts is where a path leads.
    :ivar packages: folders with installed ROS packages; what counts is how a path is written,
        because `colcon build --symlink-install` installs links to the sources.
    """

    roots: tuple[str, ...]
    packages: tuple[str, ...] = ()

    @classmethod
    def with_packages(
        cls, *roots: Path, environ: Mapping[str, str] = os.environ
    ) -> ReadableFolders:
        """Return some folders and those of all ROS packages of the environment."""
        shares = [f'{folder}/share' for folder in _listed(environ, 'AMENT_PREFIX_PATH')]
        packages = [*shares, *_listed(environ, 'ROS_PACKAGE_PATH')]
        return cls(tuple(map(os.path.realpath, roots)), tuple(map(os.path.normpath, packages)))

    def find(self, path: Path) -> Path | None:
        """Return where a path may be opened, None if it may not; it need not exist."""
        try:
            real, written = Path(os.path.realpath(path)), Path(os.path.normpath(path))
        except (OSError, ValueError):
            return None
        if any(real.is_relative_to(root) for root in self.roots):
            return real
        return written if any(map(written.is_relative_to, self.packages)) else None

    def read(self, path: Path, limit: int) -> bytes:
        """
        Return the content of a regular file.

        :param limit: bytes.
        :raises FileRefused: with the reason.
        """
        found = self.find(path)
        if found is None or not os.path.exists(found):
            raise FileRefused('there is no such file in the data folder or a ROS package')
        return read_regular(found, limit)


def _listed(environ: Mapping[str, str], name: str) -> list[str]:
    return [path for path in environ.get(name, '').split(os.pathsep) if os.path.isabs(path)]
