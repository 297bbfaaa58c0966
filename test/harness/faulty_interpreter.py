# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Faults inside programs that nobody can cause from outside: `install` makes it their sitecustomize.

The file `URLAB_TEST_CLOCK` holds seconds (a double) by which Python's wall clock is wrong.  While
the file `URLAB_TEST_NO_GL` exists, every OpenGL context is lost and no new one can be made.  With
`URLAB_TEST_PROCESSORS` they cannot tell how few processors they have.
"""

import os
from pathlib import Path
import shutil
import sys

CONTEXT_LOST = 0x0507


def install(folder: Path) -> None:
    """Make this a sitecustomize of programs that have the folder in their PYTHONPATH."""
    shutil.copy(__file__, folder / 'sitecustomize.py')


def _move_clock(path: str) -> None:
    import mmap
    import struct
    import time

    with open(path, 'rb') as file:
        mapped = mmap.mmap(file.fileno(), 8, access=mmap.ACCESS_READ)
    seconds, nanoseconds = time.time, time.time_ns

    def jump() -> float:
        return struct.unpack('<d', mapped)[0]

    time.time = lambda: seconds() + jump()
    time.time_ns = lambda: nanoseconds() + int(jump() * 1e9)


class _LosesGraphics:
    """Lets the functions of `OpenGL.GL` fail, from its import on."""

    def __init__(self, path: str) -> None:
        self._path = path

    def find_spec(self, name, path, target=None):
        if name != 'OpenGL.GL':
            return None
        import importlib.util

        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def execute_and_change(module) -> None:
            execute(module)
            self._change(module)

        spec.loader.exec_module = execute_and_change
        return spec

    def _change(self, gl) -> None:
        from OpenGL.error import GLError

        read, text, error = gl.glReadPixels, gl.glGetString, gl.glGetError

        def read_pixels(*words):
            if os.path.exists(self._path):
                raise GLError(err=CONTEXT_LOST)
            return read(*words)

        gl.glReadPixels = read_pixels
        gl.glGetString = lambda what: None if os.path.exists(self._path) else text(what)
        gl.glGetError = lambda: CONTEXT_LOST if os.path.exists(self._path) else error()


if __name__ == 'sitecustomize':
    if 'URLAB_TEST_CLOCK' in os.environ:
        _move_clock(os.environ['URLAB_TEST_CLOCK'])
    if 'URLAB_TEST_PROCESSORS' in os.environ:
        del os.sched_getaffinity
    if 'URLAB_TEST_NO_GL' in os.environ:
        sys.meta_path.insert(0, _LosesGraphics(os.environ['URLAB_TEST_NO_GL']))
