# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Files that clients name.

A bare name is in the folder Replays of the data folder (Protocol Reference, "Recording").  An
absolute path must be under the data folder, unless the server allows others.  What
counts is where a path leads after symbolic links.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
import contextlib
import os
from pathlib import Path
import stat
import sys
import threading
import time

from urlab_ros_bridge.files import confined
from urlab_ros_bridge.files import default_data_dir
from urlab_ros_bridge.files import PathRefused
from urlab_ros_bridge.files.whole_file import open_whole
from urlab_ros_bridge.files.whole_file import PART
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.wire.names import numbered

RECORDINGS = 'Replays'  # the stock plugin's name of the folder
WRITE_ERROR = 'path_not_writable'
READ_ERROR = 'path_not_readable'
_READ_CHARS = 1 << 14  # small, so that a reader can pause often
_STALE_SECONDS = 86_400.0
LIMIT_GB = 20.0  # that clients may fill by default
MAX_FILES = 10_000


class DataFolder:
    """
    The folder that file ops are confined to.

    :ivar root: the folder; it is made when something is written first.
    """

    def __init__(
        self,
        root: Path | None = None,
        allow_absolute: bool = False,
        limit_gb: float = LIMIT_GB,
    ) -> None:
        """
        Take a folder.

        :param limit_gb: gigabytes (1e9 bytes) from which on nothing more is written; 0: no limit.
        """
        self.root = Path(os.path.realpath(root if root is not None else default_data_dir()))
        self._allow_absolute = allow_absolute
        self._limit = int(limit_gb * 1e9) or sys.maxsize
        self._names = threading.Lock()
        self._being_written: set[Path] = set()

    def for_writing(self, text: str, folder: str = RECORDINGS, room: int | None = None) -> Path:
        """
        Return the absolute path of a file to write, if there is room; its folder is made.

        :param room: what `room` has just returned; None: it is computed.
        :raises OpError: path_not_writable.
        """
        path = self._resolve(text, folder, WRITE_ERROR)
        if room is None:
            self.room()
        try:
            if path.is_dir() or (path.exists() and not path.is_file()):
                raise OpError(WRITE_ERROR, f'{path} is not a regular file')
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise refused(WRITE_ERROR, path, error) from error
        return path

    @contextlib.contextmanager
    def reserved(self, wanted: str, default: str, overwrite: bool, room: int) -> Iterator[Path]:
        """
        Choose a file to write, and reserve it against others that are written at the same time.

        :param wanted: its name; '': `default`, with a number where that is taken.
        :param room: what `room` has just returned.
        :raises OpError: path_not_writable.
        """
        with self._names:
            path = self.for_writing(wanted or default, room=room)
            if not overwrite and self._is_taken(path):
                if wanted:
                    raise OpError(
                        WRITE_ERROR, f'{path} exists; set overwrite to true to replace it'
                    )
                others = (path.with_name(f'{stem}{path.suffix}') for stem in numbered(path.stem))
                path = next(other for other in others if not self._is_taken(other))
            mine = path not in self._being_written
            self._being_written.add(path)
        try:
            yield path
        finally:
            if mine:
                with self._names:
                    self._being_written.discard(path)

    def _is_taken(self, path: Path) -> bool:
        return path.exists() or path in self._being_written

    def for_reading(self, text: str, folder: str = RECORDINGS) -> Path:
        """
        Return the absolute path of a file to read.

        :raises OpError: path_not_readable; also for anything but a regular file.
        """
        path = self._resolve(text, folder, READ_ERROR)
        try:
            mode = path.stat().st_mode
        except OSError as error:
            raise refused(READ_ERROR, path, error) from error
        if not stat.S_ISREG(mode):
            raise OpError(READ_ERROR, f'{path} is not a regular file')
        return path

    def files(self, suffix: str, folder: str = RECORDINGS) -> list[tuple[Path, os.stat_result]]:
        """Return the regular files of a folder with this suffix, the newest first."""
        found = []
        with contextlib.suppress(OSError), os.scandir(self.root / folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    if entry.name.endswith(suffix) and entry.is_file(follow_symlinks=False):
                        found.append((Path(entry.path), entry.stat(follow_symlinks=False)))
        return sorted(found, key=lambda item: -item[1].st_mtime)

    def room(self) -> int:
        """
        Return how many bytes more may be written.

        :raises OpError: path_not_writable, when there is no room left.
        """
        used = files = 0
        for folder, _, names in os.walk(self.root):
            files += len(names)
            for name in names:
                with contextlib.suppress(OSError):
                    used += os.lstat(os.path.join(folder, name)).st_size
        if used < self._limit and files < MAX_FILES:
            return self._limit - used
        raise OpError(
            WRITE_ERROR,
            f'{self.root} is full: {files} files of {used / 1e9:.3g} GB, at most {MAX_FILES} and '
            f'{self._limit / 1e9:.3g} GB are kept; remove some, or start the server with '
            '--data-limit GB',
        )

    def holds(self, path: Path) -> bool:
        """Return whether clients may name a path, which has no symbolic links in it."""
        return self._allow_absolute or (path != self.root and path.is_relative_to(self.root))

    def _resolve(self, text: str, folder: str, code: str) -> Path:
        try:
            return confined(
                self.root,
                folder,
                text,
                allow_absolute=self._allow_absolute,
                advice='start the server with --allow-absolute-paths',
            )
        except PathRefused as error:
            raise OpError(code, str(error)) from error


def write_atomically(
    path: Path, pieces: Iterable[str], replace: bool = True, room: int = sys.maxsize
) -> None:
    """
    Write a text file as a whole or not at all.

    :param replace: whether it may take the place of a file that there is in the end.
    :param room: bytes that it may have, of `DataFolder.room`.

    Whatever `pieces` raises is passed on, and the old file stays.

    :raises OpError: path_not_writable, with the system's reason.
    """
    _remove_stale(path)
    try:
        with open_whole(path, prefix=_part_prefix(path), sync=True, replace=replace) as file:
            for piece in pieces:
                data = piece.encode()
                room -= len(data)
                if room < 0:
                    raise OpError(WRITE_ERROR, f'{path}: the data folder has no room for it')
                file.write(data)
    except OSError as error:
        raise refused(WRITE_ERROR, path, error) from error


def _part_prefix(path: Path) -> str:
    """Return how the names of unfinished files begin: short enough with letters of 4 bytes."""
    return f'.{path.name[:48]}.'


def read_text(path: Path) -> Iterator[str]:
    """
    Yield a text file in small pieces: UTF-8, or UTF-16 with a byte order mark.

    :raises OpError: path_not_readable.
    """
    try:
        with open(path, 'rb') as file:
            mark = file.read(2)
        encoding = 'utf-16' if mark in (b'\xff\xfe', b'\xfe\xff') else 'utf-8-sig'
        with open(path, encoding=encoding) as file:
            while piece := file.read(_READ_CHARS):
                yield piece
    except OSError as error:
        raise refused(READ_ERROR, path, error) from error
    except UnicodeDecodeError as error:
        raise OpError(READ_ERROR, f'{path} is not text: {error.reason}') from error


def refused(code: str, path: Path, error: OSError) -> OpError:
    """Return the error of a file that the system refuses."""
    return OpError(code, f'{path}: {error.strerror or error}')


def _remove_stale(path: Path) -> None:
    """Remove what a killed server has left of earlier attempts."""
    prefix = _part_prefix(path)
    with contextlib.suppress(OSError):
        for entry in os.scandir(path.parent):
            ours = entry.name.startswith(prefix) and entry.name.endswith(PART)
            if ours and time.time() - entry.stat().st_mtime > _STALE_SECONDS:
                os.unlink(entry.path)
