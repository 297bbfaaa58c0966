# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Folders of this package: files that it ships (config/ and launch/), and the user's cache."""

from __future__ import annotations

from collections.abc import Mapping
import os
from pathlib import Path
import site
import sys

PACKAGE = 'urlab_ros_bridge'


def shipped_file(name: str, environ: Mapping[str, str] = os.environ) -> Path:
    """
    Return the absolute path of a shipped file such as `config/bridge.yaml`.

    Looked up in the source tree, in each ROS prefix (a colcon build), in the Python prefix
    and in that of the user (a pip install).  When it is nowhere, the place in the source tree is
    returned, so that the error on opening it names a sensible path.
    """
    places = [folder / name for folder in _folders(environ)]
    return next((place for place in places if place.is_file()), places[0])


def shipped_names(folder: str, suffix: str, environ: Mapping[str, str] = os.environ) -> list[str]:
    """Return the names, without suffix, of the shipped files of a folder, in order."""
    for place in _folders(environ):
        if names := sorted(path.stem for path in (place / folder).glob(f'*{suffix}')):
            return names
    return []


def _folders(environ: Mapping[str, str]) -> list[Path]:
    source = Path(__file__).resolve().parents[2]
    prefixes = [*environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep), sys.prefix]
    prefixes.append(site.getuserbase() or '')
    return [source, *(Path(prefix) / 'share' / PACKAGE for prefix in prefixes if prefix)]


def cache_folder(name: str, environ: Mapping[str, str] = os.environ) -> Path:
    """Return the absolute path of one of this package's cache folders; it may not exist yet."""
    cache = environ.get('XDG_CACHE_HOME', '')
    base = Path(cache) if os.path.isabs(cache) else Path.home() / '.cache'
    return base / 'urlab_ros_bridge' / name
