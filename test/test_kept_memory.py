# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Memory for one picture serves the next one too."""

import os
import platform
import subprocess
import sys

import pytest

# What a picture takes and gives back, again and again; prints how many pages had to be made.
PICTURES = """
import ctypes, resource, sys
from urlab_ros_bridge.kept_memory import keep_freed_memory
if sys.argv[1:]:
    keep_freed_memory()
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
def picture():
    blocks = [libc.malloc(1 << 16) for _ in range(40)]
    for block in blocks:
        ctypes.memset(block, 1, 1 << 16)
    for block in reversed(blocks):
        libc.free(block)
for _ in range(5):
    picture()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(100):
    picture()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(variables, *words):
    """Return how many pages a process had to make for a hundred pictures."""
    # env.sh sets them too.
    others = {name: value for name, value in os.environ.items() if not name.startswith('MALLOC_')}
    environment = {**others, **variables}
    command = [sys.executable, '-c', PICTURES, *words]
    return int(subprocess.check_output(command, env=environment, timeout=60))


@pytest.mark.skipif(platform.libc_ver()[0] != 'glibc', reason='mallopt is of glibc')
def test_a_running_process_keeps_them_too_unless_the_user_has_set_otherwise():
    pictures = 100
    assert faults({}, 'keep') < pictures
    assert faults({'MALLOC_TRIM_THRESHOLD_': '65536', 'MALLOC_TOP_PAD_': '0'}, 'keep') > pictures
