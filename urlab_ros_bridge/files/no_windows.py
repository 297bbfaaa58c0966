# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
MuJoCo for programs that open no window.

When it is imported, MuJoCo looks for a window library with the help of another Python, which
takes that one's start.
"""

import os

WITHOUT_WINDOWS = {'MUJOCO_GL': 'disable'}


def open_no_windows() -> None:
    """
    Have MuJoCo look for no window library, unless the user has chosen one.

    Renderers are processes of their own, which choose theirs.
    """
    for name, value in WITHOUT_WINDOWS.items():
        os.environ.setdefault(name, value)
