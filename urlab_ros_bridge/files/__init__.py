# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
File handling shared by several packages: where clients may have files, and MCAP.

The package `mcap` is optional: call `require_mcap` before `McapFile`.
"""

from urlab_ros_bridge.files.confined import confined
from urlab_ros_bridge.files.confined import default_data_dir
from urlab_ros_bridge.files.confined import PathRefused
from urlab_ros_bridge.files.mcap_file import COMPRESSIONS
from urlab_ros_bridge.files.mcap_file import McapFile
from urlab_ros_bridge.files.mcap_file import require_mcap
from urlab_ros_bridge.files.readable import ReadableFolders
from urlab_ros_bridge.files.regular_file import FileRefused
from urlab_ros_bridge.files.regular_file import read_regular

__all__ = [
    'COMPRESSIONS',
    'FileRefused',
    'McapFile',
    'PathRefused',
    'ReadableFolders',
    'confined',
    'default_data_dir',
    'read_regular',
    'require_mcap',
]
