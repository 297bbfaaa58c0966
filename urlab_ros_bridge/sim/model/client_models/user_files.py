# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Files that clients of the editor name.

Besides what `DataFolder` allows, a path may begin with ``/Game/``, the stock plugin's name of the
project's content: here the data folder.  The files of the bundled worlds may be read as well.
"""

from __future__ import annotations

import os
from pathlib import Path

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.model.client_models import BUNDLED
from urlab_ros_bridge.sim.requests.paths import DataFolder

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


__all__ = ['BUNDLED', 'CONTENT', 'read_user_file', 'write_user_file']
