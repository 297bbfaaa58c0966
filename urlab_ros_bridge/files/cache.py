# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The user's folder for files that can be made again (XDG base directories)."""

from __future__ import annotations

from collections.abc import Mapping
import os
from pathlib import Path


def cache_folder(name: str, environ: Mapping[str, str] = os.environ) -> Path:
    """Return the absolute path of one of this package's cache folders; it may not exist yet."""
    cache = environ.get('XDG_CACHE_HOME', '')
    base = Path(cache) if os.path.isabs(cache) else Path.home() / '.cache'
    return base / 'urlab_ros_bridge' / name
