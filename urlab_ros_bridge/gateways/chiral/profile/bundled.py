# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Bundled profiles: the files of config/chiral, by name."""

from __future__ import annotations

import os
from pathlib import Path

from urlab_ros_bridge.files.folders import shipped_file
from urlab_ros_bridge.files.folders import shipped_names
from urlab_ros_bridge.gateways.chiral.errors import ProfileError
from urlab_ros_bridge.schema import hint
from urlab_ros_bridge.schema import shown

FOLDER = 'config/chiral'


def profile_names() -> list[str]:
    """Return the names of the bundled profiles in alphabetical order."""
    return shipped_names(FOLDER, '.yaml')


def find_profile(name_or_path: str) -> Path:
    """
    Return the file of a profile; a file of the user goes before a bundled one of that name.

    :param name_or_path: such as ``bimanual`` or ``my_profile.yaml``.
    :raises ProfileError: when there is neither; it lists the names.
    """
    if os.path.isfile(name_or_path):  # False too for what no system can open
        return Path(name_or_path)
    names = profile_names()
    if name_or_path not in names:
        what = 'is a folder' if os.path.isdir(name_or_path) else 'there is no such file'
        raise ProfileError(
            f'profile {shown(name_or_path)}',
            '',
            f'{what}, and no bundled profile of that name; {hint(name_or_path, names)}',
        )
    return shipped_file(f'{FOLDER}/{name_or_path}.yaml')


__all__ = ['find_profile', 'profile_names']
