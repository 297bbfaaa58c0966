# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The entry point of `urlab`; sets the handling of Ctrl-C before it imports anything else."""

from __future__ import annotations

from collections.abc import Sequence
import contextlib
import faulthandler
import os
import resource
import sys

from urlab_ros_bridge.cli.signals import end_at_once
from urlab_ros_bridge.cli.signals import restored_handlers
from urlab_ros_bridge.files.no_windows import open_no_windows
from urlab_ros_bridge.interpreters import continue_on
from urlab_ros_bridge.interpreters import CORE
from urlab_ros_bridge.interpreters import find_python
from urlab_ros_bridge.interpreters import missing_here

# Commands that load MuJoCo and open no windows.  (A hook of `urlab chiral` that draws needs
# MUJOCO_GL, as on every machine without a display.)
_WITHOUT_WINDOWS = ('bridge', 'chiral', 'conformance', 'map', 'server', 'simspark', 'webxr')


# Commands that serve clients.
_SERVERS = ('chiral', 'server', 'simspark', 'webxr')
_MOST_DESCRIPTORS = 1 << 16

# Commands that have closed everything when they return: the teardown of Python and the ROS
# libraries takes several times as long.
_WITHOUT_TEARDOWN = ('bridge',)


def main(argv: Sequence[str] | None = None) -> int:
    """
    Run `urlab`; return the exit code.

    :param argv: arguments after the name, for a call from another program, whose signal handlers
        are restored; None: the arguments of this process.
    """
    if argv is None:
        faulthandler.enable()  # a crash in a library says where, in the log
        words = sys.argv[1:]
        if words and words[0] in _WITHOUT_WINDOWS:
            open_no_windows()
        if words and words[0] in _SERVERS:
            _allow_descriptors()
        code = _find_packages(words) or _run(words, is_program=True)
        if words and words[0] in _WITHOUT_TEARDOWN:
            _end_process(code)
        return code
    with restored_handlers():
        return _run(argv)


def _find_packages(words: Sequence[str]) -> int:
    """Continue on a Python with the packages of every command; if none has them, return 2."""
    missing = missing_here(CORE)
    if not missing:
        return 0
    if python := find_python():
        continue_on(python, words)
    print(
        f'error: {sys.executable} lacks Python packages ({", ".join(missing)}): run rosdep for '
        'this package, as its README says, or activate the virtual environment that has it',
        file=sys.stderr,
    )
    return 2


def _run(argv: Sequence[str], is_program: bool = False) -> int:
    end_at_once()
    from urlab_ros_bridge.cli import completion
    from urlab_ros_bridge.cli.program import run

    if completion.is_wanted():
        completion.complete()
    return run(argv, is_program)


def _allow_descriptors() -> None:
    """Raise the limit of descriptors: each client takes one, and 1,024 are common."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _MOST_DESCRIPTORS)
    if resource.RLIM_INFINITY != soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _end_process(code: int) -> None:
    """Flush the output and end the process."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or none
            stream.flush()
    os._exit(code)


if __name__ == '__main__':
    sys.exit(main())
