# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Commands of `urlab` as processes of their own."""

import os
import subprocess
import sys

from lifelines import start_process

# Words of `urlab server` for a server that shares the machine with others.
ANY_PORTS = tuple(f'--{name}-port=0' for name in ('rpc', 'state', 'camera', 'control', 'info'))


def start_urlab(*words, stderr=subprocess.PIPE):
    """Start a command of `urlab`; return it, and its first line, which says that it is ready."""
    process = start_process(
        [sys.executable, '-m', 'urlab_ros_bridge.cli.main', *words],
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        env={**os.environ, 'PYTHONUNBUFFERED': '1'},
    )
    return process, process.stdout.readline()
