# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Names of the files in a session directory (Protocol Reference, "Transports")."""

from __future__ import annotations

from pathlib import Path

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


__all__ = ['camera_file', 'reply_file', 'request_file']
