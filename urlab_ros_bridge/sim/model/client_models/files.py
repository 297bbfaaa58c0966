# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Files named by clients and by models of clients, inside the folders that clients may access.

A file elsewhere and a file that does not exist give the same error, so that no client learns
what is on the disk.  Only regular files are opened: a FIFO or a device would never end.

Besides what `DataFolder` allows, a path of the editor may begin with ``/Game/``, the stock
plugin's name of the project's content: here the data folder.  The files of the bundled worlds may
be read as well.
"""

from __future__ import annotations

import os
from pathlib import Path
import re

from urlab_ros_bridge import files
from urlab_ros_bridge import models
from urlab_ros_bridge.schema import Place
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.model.client_models import limits
from urlab_ros_bridge.sim.model.sidecar.sidecar import named_files
from urlab_ros_bridge.sim.requests.paths import DataFolder

BUNDLED = Path(models.__file__).resolve().parent
MISSING = 'missing_assets'


class ClientFiles:
    """Finds and reads the files of the data folder and of the bundled models."""

    def __init__(self, data: DataFolder) -> None:
        self._data = data

    def may_read(self, path: Path) -> bool:
        """Return whether clients may read a path, which has no symbolic links in it."""
        return path.is_relative_to(BUNDLED) or self._data.holds(path)

    def find(self, name: str, folders: list[Path]) -> Path:
        """
        Return where a file is that a model names.

        :param folders: where it is looked for, the first one first.
        :raises OpError: missing_assets; the same whether it is missing or elsewhere.
        """
        for place in self._places(name, folders):
            try:
                path = Path(os.path.realpath(place))
                # In this order: paths elsewhere are never touched.
                if self.may_read(path) and path.exists():
                    return path
            except (OSError, ValueError):
                continue
        raise self.refusal(name)

    def refusal(self, name: str) -> OpError:
        """Return the error of a file that is missing or elsewhere."""
        where = 'beside the model, in the data folder or among the bundled models'
        return OpError(MISSING, f'there is no file {name!r:.200} {where} that clients may read')

    def check_sidecar(self, top: Place) -> None:
        """
        Make sure that all files which a sidecar of a client names lie where clients may read.

        :raises OpError: missing_assets; the same whether a file elsewhere exists or not.
        """
        for name, path in named_files(top):
            if not self.may_read(path):
                raise self.refusal(name)

    def _places(self, name: str, folders: list[Path]) -> list[Path]:
        # MuJoCo leaves one slash of two.
        package = re.match('package:/+', name)
        text = re.sub('^(package:/+|file:/*(?=/))', '', name)
        if not package:
            return [folder / text for folder in folders]
        first, _, rest = text.partition('/')
        above = [
            parent / rest
            for folder in folders
            for parent in (folder, *folder.parents)
            if parent.name == first
        ]
        return [self._data.root / text, *above]


def read_regular(path: Path, code: str, limit: int = limits.FILE_BYTES) -> bytes:
    """
    Return the content of a file that clients may read.

    :param path: without symbolic links.
    :raises OpError: `code`, for anything but a regular file of at most `limit` bytes.
    """
    try:
        return files.read_regular(path, limit, follow_links=False)
    except files.FileRefused as error:
        raise OpError(code, f'{path.name!r:.200}: {error}') from error


CONTENT = '/Game/'


def read_user_file(data: DataFolder, text: str, folder: str, code: str) -> Path:
    """
    Return the absolute path of a file to read.

    :param folder: folder of the data folder that a relative path starts at.
    :param code: error code of this op.
    :raises OpError: `code`, with the reason.
    """
    text, folder = _content(text, folder)
    if Path(text).parent == BUNDLED and Path(text).name in os.listdir(BUNDLED):
        return Path(text)
    try:
        return data.for_reading(text, folder)
    except OpError as error:
        raise OpError(code, str(error)) from error


def write_user_file(data: DataFolder, text: str, folder: str, code: str) -> Path:
    """
    Return the absolute path of a file to write; its folder is made.

    :raises OpError: `code`, with the reason.
    """
    text, folder = _content(text, folder)
    try:
        return data.for_writing(text, folder)
    except OpError as error:
        raise OpError(code, str(error)) from error


def _content(text: str, folder: str) -> tuple[str, str]:
    return (text.removeprefix(CONTENT), '.') if text.startswith(CONTENT) else (text, folder)
