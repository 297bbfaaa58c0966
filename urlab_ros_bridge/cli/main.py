# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The entry point of `urlab`; sets the handling of Ctrl-C before it imports anything else."""

from __future__ import annotations

from collections.abc import Sequence
import contextlib
import os
import sys

from urlab_ros_bridge.cli.signals import end_at_once
from urlab_ros_bridge.cli.signals import restored_handlers
from urlab_ros_bridge.files.no_windows import open_no_windows

# Commands that load MuJoCo and open no windows.  (A hook of `urlab chiral` that draws needs
# MUJOCO_GL, as on every machine without a display.)
_WITHOUT_WINDOWS = ('bridge', 'chiral', 'conformance', 'map', 'server', 'simspark', 'webxr')


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
        words = sys.argv[1:]
        if words and words[0] in _WITHOUT_WINDOWS:
            open_no_windows()
        code = _run(words)
        if words and words[0] in _WITHOUT_TEARDOWN:
            _end_process(code)
        return code
    with restored_handlers():
        return _run(argv)


def _run(argv: Sequence[str]) -> int:
    end_at_once()
    from urlab_ros_bridge.cli import completion
    from urlab_ros_bridge.cli.program import run

    if completion.is_wanted():
        completion.complete()
    return run(argv)


def _end_process(code: int) -> None:
    """Flush the output and end the process."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or none
            stream.flush()
    os._exit(code)


if __name__ == '__main__':
    sys.exit(main())
