# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Allocator settings, in a process of their own."""

import platform
import sys

from lifelines import run_process
import pytest

COUNT_ARENAS = """
import ctypes, os, tempfile, threading
from urlab_ros_bridge.kept_memory import limit_arenas
limit_arenas()
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
together = threading.Barrier(8)
def allocate():
    together.wait()
    libc.malloc(100_000)
    together.wait()
threads = [threading.Thread(target=allocate) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
libc.fdopen.restype = ctypes.c_void_p
with tempfile.TemporaryFile() as file:
    stream = ctypes.c_void_p(libc.fdopen(os.dup(file.fileno()), b'w'))
    libc.malloc_info(0, stream)
    libc.fclose(stream)
    file.seek(0)
    print(file.read().count(b'<heap nr'))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != 'glibc', reason='a setting of glibc')
@pytest.mark.parametrize(('environment', 'at_most'), [({}, 2), ({'MALLOC_ARENA_MAX': '5'}, 5)])
def test_threads_share_two_arenas_unless_the_user_wants_more(monkeypatch, environment, at_most):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    done = run_process([sys.executable, '-c', COUNT_ARENAS], capture_output=True, text=True)
    assert 2 <= int(done.stdout) <= at_most, done.stderr
