# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Commands of `urlab` as processes of their own, and what they listen to."""

from contextlib import contextmanager
from contextlib import suppress
import os
from pathlib import Path
import re
import socket
import subprocess
import sys

from lifelines import start_process

# Words of `urlab server` for a server that shares the machine with others.
ANY_PORTS = tuple(f'--{name}-port=0' for name in ('rpc', 'state', 'camera', 'control', 'info'))
# State of a listening TCP socket in /proc/net/tcp.
_LISTEN = '0A'
_PATIENCE = 100  # s: machines stall


def start_urlab(*words, stderr=subprocess.PIPE, before=(), within=()):
    """
    Start a command of `urlab`; return it, and its first line, which says that it is ready.

    :param before: words of Python before ``-m``, or another program of Python.
    :param within: words of a program that becomes Python.
    """
    process = start_process(
        [*within, sys.executable, *(before or ('-m', 'urlab_ros_bridge.cli.main')), *words],
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        env={**os.environ, 'PYTHONUNBUFFERED': '1'},
    )
    return process, process.stdout.readline()


@contextmanager
def program(*words, ready='ready', log=None, **options):
    """Run a command of `urlab` until the block ends; yield it and its line of readiness."""
    process, line = start_urlab(*words, stderr=log or subprocess.DEVNULL, **options)
    try:
        while line and ready not in line:
            line = process.stdout.readline()
        assert ready in line, (words, process.poll())
        yield process, line
    finally:
        process.terminate()
        try:
            process.wait(_PATIENCE)
        finally:
            process.kill()
            process.stdout.close()


def port_of(line, name='rpc'):
    """Return a port that the server's line of readiness names."""
    return int(re.search(rf'{name}=tcp://\S*?:(\d+)', line)[1])


def family(pid):
    """Return the ids of a process and all that it has started."""
    found = [pid]
    for children in Path(f'/proc/{pid}/task').glob('*/children'):
        with suppress(OSError):  # a thread that has just ended
            for child in children.read_text().split():
                found += family(int(child))
    return found


def sockets_of(pid):
    """Return the inodes of the sockets of a process."""
    found = set()
    for descriptor in Path(f'/proc/{pid}/fd').iterdir():
        try:
            target = os.readlink(descriptor)
        except OSError:
            continue
        if target.startswith('socket:['):
            found.add(int(target[8:-1]))
    return found


def listening(pid):
    """
    Return (protocol, address, port) of all sockets at which a process and its children listen.

    UDP has no listening: every bound socket counts.
    """
    found = set()
    for each in family(pid):
        own = sockets_of(each)
        for protocol in ('tcp', 'tcp6', 'udp', 'udp6'):
            for row in Path(f'/proc/{each}/net/{protocol}').read_text().splitlines()[1:]:
                cells = row.split()
                if int(cells[9]) in own and (protocol[:3] == 'udp' or cells[3] == _LISTEN):
                    found.add((protocol, *_place(cells[1])))
    return found


def _place(text):
    address, _, port = text.partition(':')
    # Each group of four bytes is a number in the order of the machine.
    data = bytes.fromhex(address)
    data = b''.join(data[i : i + 4][::-1] for i in range(0, len(data), 4))
    kind = socket.AF_INET if len(data) == 4 else socket.AF_INET6
    return socket.inet_ntop(kind, data), int(port, 16)
