# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Paths that clients name, confined to a data folder.

A bare name is in a folder of the data folder.  An absolute path must be under the data folder,
unless others are allowed.  What counts is where a path leads after symbolic links.
"""

from __future__ import annotations

import os
from pathlib import Path

from urlab_ros_bridge.wire.errors import UrlabError

MAX_PATH_CHARS = 1024
MAX_NAME_BYTES = 255  # of a file, as most file systems have it


class PathRefused(UrlabError, ValueError):
    """A path that a client named is none, or leads out of the data folder."""


def confined(root: Path, folder: str, text: str, *, allow_absolute: bool, advice: str) -> Path:
    """
    Return the absolute path that a text means; whether anything is there is not looked at.

    :param root: the data folder, without symbolic links.
    :param folder: where bare names lie in it.
    :param advice: how to have other paths allowed, for the message.
    :raises PathRefused: with the reason.
    """
    shown = f'{text!r:.80}'
    if not text or len(text) > MAX_PATH_CHARS:
        raise PathRefused(f'{shown}: a path must have 1 to {MAX_PATH_CHARS} characters')
    if not text.isprintable() or '\\' in text:
        raise PathRefused(
            f'{shown}: backslashes and control characters are not allowed; separate folders with /'
        )
    if any(len(part.encode()) > MAX_NAME_BYTES for part in Path(text).parts):
        raise PathRefused(f'{shown}: a name must have at most {MAX_NAME_BYTES} bytes')
    if '..' in Path(text).parts:
        raise PathRefused(f'{shown}: .. is not allowed')
    base = root / folder
    absolute = text.startswith('/')
    try:
        path = Path(os.path.realpath(text if absolute else base / text))
    except (OSError, ValueError) as error:
        raise PathRefused(f'{shown}: {error}') from error
    if absolute and allow_absolute:
        return path
    within = root if absolute else Path(os.path.realpath(base))
    if not within.is_relative_to(root) or not path.is_relative_to(within):
        raise PathRefused(f'{shown} is not inside {within}; give a bare name, or {advice}')
    if path == within:
        raise PathRefused(f'{shown} is a folder, not a file')
    return path


def default_data_dir() -> Path:
    """Return the folder `urlab` of the user's data (XDG base directories)."""
    home = os.environ.get('XDG_DATA_HOME', '')
    base = Path(home) if os.path.isabs(home) else Path.home() / '.local' / 'share'
    return base / 'urlab'
