# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The environment of the renderer process: which OpenGL it uses, and which processors.

MuJoCo and PyOpenGL choose a platform once, when they are imported, by environment variables.  So
the choice is made by the process that starts the renderer, and tried by the renderer.

Rendering takes all processors but one, so that physics finds one free.  A low priority is not
enough: a tick that wakes up while software rendering holds every processor waits for the end of a
time slice, 3 ms on current kernels (docs/performance.md).
"""

from __future__ import annotations

from collections.abc import Mapping
import ctypes
from ctypes.util import find_library
import os

from urlab_ros_bridge.wire.errors import UrlabError

BACKENDS = ('egl', 'osmesa')

_LIBRARIES = {'egl': ('libEGL.so.1', 'EGL'), 'osmesa': ('libOSMesa.so.8', 'OSMesa')}
ADVICE = (
    'to render cameras, install OpenGL for EGL (Debian, Ubuntu: apt install libegl1 libgl1 '
    'libgl1-mesa-dri) or OSMesa (apt install libosmesa6)'
)


class NoGraphics(UrlabError):
    """OpenGL cannot render off screen on this machine."""

    def __init__(self, reasons: Mapping[str, str]) -> None:
        tried = '; '.join(f'{name}: {reason}' for name, reason in reasons.items())
        super().__init__(f'no OpenGL, cameras are off ({tried}); {ADVICE}')


class RendererSlow(UrlabError):
    """The renderer was not ready in time, although OpenGL is there."""

    def __init__(self, reasons: Mapping[str, str]) -> None:
        tried = '; '.join(f'{name}: {reason}' for name, reason in reasons.items())
        super().__init__(
            f'the camera renderer does not start in time ({tried}): the machine is too busy, or '
            'too slow for so many cameras'
        )


class GraphicsLost(UrlabError):
    """OpenGL has stopped working: further images would be empty."""

    def __init__(self, reason: str) -> None:
        super().__init__(f'OpenGL stopped rendering: {reason}')


def candidates(choice: str) -> tuple[str, ...]:
    """Return the backends to try, in order."""
    return BACKENDS if choice == 'auto' else (choice,)


def missing_library(backend: str) -> str:
    """Return why a backend cannot work, '' if its library is installed."""
    soname, short = _LIBRARIES[backend]
    # The search runs up to four programs and is rarely needed.
    found = _loads(soname) or _loads(find_library(short))
    return '' if found else f'{soname} is not installed'


def _loads(library: str | None) -> bool:
    try:
        return bool(library and ctypes.CDLL(library))
    except OSError:
        return False


def platform_variables(backend: str) -> dict[str, str]:
    """Return the environment variables with which a process renders on a backend."""
    return {'MUJOCO_GL': backend, 'PYOPENGL_PLATFORM': backend}


def open_context(width: int, height: int) -> tuple[object, str]:
    """
    Make an OpenGL context current in this thread; returns it and the renderer's name.

    :raises NoGraphics: with the library's own reason.
    """
    backend = os.environ.get('MUJOCO_GL', '')
    try:
        import mujoco

        context = mujoco.GLContext(width, height)
        context.make_current()
        from OpenGL import GL

        name = GL.glGetString(GL.GL_RENDERER)
    except Exception as error:  # whatever ctypes, PyOpenGL and drivers raise
        reason = ' '.join(f'{type(error).__name__}: {error}'.split())
        raise NoGraphics({backend: reason[:300]}) from error
    if not name:
        raise NoGraphics({backend: 'OpenGL has no renderer'})
    return context, name.decode(errors='replace')


NICENESS = 5


def processors() -> list[int]:
    """Return the processors for rendering: all that this process may use, without the first."""
    if not hasattr(os, 'sched_getaffinity'):
        return []
    usable = sorted(os.sched_getaffinity(0))
    return usable[1:] or usable


def thread_variables() -> dict[str, str]:
    """Return the variables that limit Mesa's software rendering to as many threads."""
    count = len(processors()) or max(1, (os.cpu_count() or 2) - 1)
    return {'LP_NUM_THREADS': os.environ.get('LP_NUM_THREADS', str(count))}


def on_one_processor() -> bool:
    """Return whether all threads of this process share one processor."""
    return hasattr(os, 'sched_getaffinity') and len(os.sched_getaffinity(0)) == 1


def lower_priority() -> None:
    """Lower this process's priority; call it before OpenGL and ZeroMQ start their threads."""
    os.nice(NICENESS)
    if hasattr(os, 'SCHED_BATCH'):
        # Waking up does not interrupt the running thread.
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    chosen = processors()
    if chosen:
        os.sched_setaffinity(0, chosen)
