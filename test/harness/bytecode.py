# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The bytecode of a fresh clone, made before the workers of pytest-xdist begin.

Every worker collects all tests, at the same time as the others.  So each would compile all of the
package and all of the tests, whose assertions pytest rewrites: four times as much as the rest of a
collection takes.
"""

import subprocess
import sys

from lifelines import start_process

PARTS = 2


def is_missing(tests):
    """Return whether most test files below a folder have never been compiled."""
    files = sum(1 for _ in tests.rglob('test_*.py'))
    compiled = sum(1 for _ in tests.rglob('__pycache__/test_*-pytest-*.pyc'))
    return compiled < files / 2


def make(tests):
    """Collect the tests below a folder, a part of them in each of some processes."""
    sizes = {
        folder: sum(file.stat().st_size for file in folder.rglob('*.py'))
        for folder in tests.iterdir()
        if any(folder.rglob('test_*.py'))
    }
    parts = [[] for _ in range(PARTS)]
    for folder in sorted(sizes, key=sizes.get, reverse=True):
        min(parts, key=lambda part: sum(map(sizes.get, part))).append(folder)
    options = ('--collect-only', '-qq', '-n0', '-p', 'no:cacheprovider')
    collecting = [
        start_process(
            [sys.executable, '-m', 'pytest', *options, *map(str, part)],
            cwd=tests.parent,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for part in parts
    ]
    for process in collecting:
        process.wait()
