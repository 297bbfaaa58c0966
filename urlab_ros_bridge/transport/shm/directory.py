# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The session directory: one for each start of a server, removed at its end.

It is ``<runtime folder>/urlab-<uid>/URLabShm/<id>``, for its user only.  A lock on the file `lock`
in it lives as long as the server process, however that ends; a directory without such a lock is a
dead server's and the next start removes it.  (Process ids would not do: two containers can share
the folder and each have a process 7.)

The names of the files in it are those of the Protocol Reference, "Transports".
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextlib import suppress
import fcntl
import logging
import os
from pathlib import Path
import shutil
import stat
import tempfile
import time
import uuid

from urlab_ros_bridge.wire.errors import RegionUnavailable

STATE_FILE = 'state.shm'
LOCK_FILE = 'lock'  # the bundled server's: locked as long as its process lives


def request_file(directory: Path, channel: str = '') -> Path:
    """
    Return the region that a client writes requests into.

    :param channel: of a client that has a pair of its own (extension), '' for the stock one.

    >>> request_file(Path('/x')), request_file(Path('/x'), '1f')
    (PosixPath('/x/req.shm'), PosixPath('/x/req_1f.shm'))
    """
    return directory / (f'req_{channel}.shm' if channel else 'req.shm')


def reply_file(directory: Path, channel: str = '') -> Path:
    """Return the region that the server writes replies into, see `request_file`."""
    return directory / (f'rep_{channel}.shm' if channel else 'rep.shm')


def camera_file(directory: Path, prefix: str, name: str) -> Path:
    """
    Return the region of a camera; a slash in a name cannot be in a file's name.

    >>> camera_file(Path('/x'), 'g1', 'head/rgb')
    PosixPath('/x/cam_g1_head_rgb.shm')
    """
    return directory / f'cam_{prefix}_{name}.shm'.replace('/', '_').replace('\0', '_')


FOLDER = 'URLabShm'
_HALF_MADE_SECONDS = 60.0
_LOG = logging.getLogger(__name__)


def runtime_folders() -> list[Path]:
    """Return the folders in memory where the session directory may be, best first."""
    runtime = os.environ.get('XDG_RUNTIME_DIR')
    names = [runtime] if runtime and os.path.isabs(runtime) else []
    return [Path(name) for name in (*names, '/dev/shm', tempfile.gettempdir())]


class SessionDirectory:
    """
    A directory of the running server.

    :ivar path: absolute.
    """

    def __init__(self, folders: list[Path] | None = None, name: str = FOLDER) -> None:
        """
        Make the directory in the first folder that allows it, and remove those of dead servers.

        :param name: of the folder of such directories.
        :raises RegionUnavailable: when there is no such folder.
        """
        reasons = []
        for folder in folders or runtime_folders():
            try:
                parent = _private_parent(folder, name)
                remove_stale(parent)
                self.path, self._lock_fd = _make_locked(parent)
                return
            except OSError as error:
                reasons.append(f'{folder}: {error.strerror or error}')
        raise RegionUnavailable('directory', '; '.join(reasons))

    def close(self) -> None:
        """Remove the directory and everything in it."""
        if self._lock_fd < 0:
            return
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock_fd)
        self._lock_fd = -1


def remove_stale(parent: Path) -> None:
    """Remove directories whose server has died; what cannot be removed stays."""
    for path in sorted(parent.iterdir()):
        if path.is_symlink() or not path.is_dir():
            continue
        try:
            with _abandoned(path) as abandoned:
                if abandoned:
                    shutil.rmtree(path)
                    _LOG.info('removed %s, which a server had left behind', path)
        except OSError as error:
            _LOG.debug('%s stays: %s', path, error)


@contextmanager
def _abandoned(path: Path) -> Iterator[bool]:
    """Return whether a directory has no owner; it is locked for the check."""
    try:
        fd = os.open(path / LOCK_FILE, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        yield time.time() - path.stat().st_mtime > _HALF_MADE_SECONDS
        return
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(fd)


def _private_parent(folder: Path, name: str) -> Path:
    """Return the folder of all session directories of this user; others can not enter it."""
    mine = folder / f'urlab-{os.getuid()}'
    for path in (mine, mine / name):
        with suppress(FileExistsError):
            os.mkdir(path, 0o700)
        status = os.lstat(path)
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
            raise PermissionError(0, f'{path} belongs to another user')
        if status.st_mode & 0o077:
            os.chmod(path, 0o700)
    return mine / name


def _make_locked(parent: Path) -> tuple[Path, int]:
    """Make a directory, locked before it has its name."""
    name = str(uuid.uuid4())
    half_made = parent / f'.{name}'
    os.mkdir(half_made, 0o700)
    fd = os.open(half_made / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.write(fd, f'{os.getpid()}\n'.encode())  # for humans
        os.rename(half_made, parent / name)
    except OSError:
        os.close(fd)
        shutil.rmtree(half_made, ignore_errors=True)
        raise
    return parent / name, fd
