# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Ports of our own tests, for programs that must be found where they were after a restart.

A port that the system chose is free for one moment: as soon as its probe is closed, the next
program that asks for any port, or that connects to somebody, may get it.  So these lie below the
range that the system chooses from, and each is locked by a file of its own until the fixture or
the test that asks ends.
"""

import fcntl
import os
from pathlib import Path
import random
import socket
import tempfile

from borrowed import borrow

# A server takes the ports after its first camera port for the other cameras.
STRIDE = 16
LOWEST = 20000
LOCAL_RANGE = Path('/proc/sys/net/ipv4/ip_local_port_range')


class _Port:
    """A port that is locked until `close`, or the end of this process."""

    def __init__(self, number, descriptor):
        self.number = number
        self._descriptor = descriptor

    def close(self):
        os.close(self._descriptor)


def free_port():
    """Return the first of 16 ports that are reserved until the test ends."""
    folder = Path(tempfile.gettempdir()) / f'urlab-test-ports-{os.getuid()}'
    folder.mkdir(exist_ok=True)
    highest = min(32768, int(LOCAL_RANGE.read_text().split()[0]))
    numbers = range(LOWEST, highest - STRIDE, STRIDE)
    for number in random.sample(numbers, len(numbers)):
        descriptor = os.open(folder / str(number), os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            socket.create_server(('127.0.0.1', number)).close()
        except OSError:  # another test's, or of a program that has to do with none
            os.close(descriptor)
        else:
            return borrow(_Port(number, descriptor)).number
    raise RuntimeError(f'no port of {LOWEST} to {highest} is free: is {folder} left behind?')


def free_ports(*names):
    """Return as many ports, by name."""
    return {name: free_port() for name in names}
