# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""TCP ports: whether one is free, and which process holds it (Linux)."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import os
from pathlib import Path
import socket

_WILDCARDS = ('*', '')
_LISTEN = '0A'


def connect_address(bind: str) -> str:
    """
    Return the address at which this machine reaches a server that binds `bind`.

    >>> connect_address('0.0.0.0'), connect_address('192.168.1.5')
    ('127.0.0.1', '192.168.1.5')
    """
    return '127.0.0.1' if bind in ('0.0.0.0', '*', '::', '[::]') else bind


def can_bind(address: str, port: int) -> bool:
    """Return whether a server can listen there; True for unknown addresses, which fail later."""
    host = '0.0.0.0' if address in _WILDCARDS else address.strip('[]')
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError:
        return True
    with socket.socket(family, kind, protocol) as probe:
        # As ZMQ does, so that connections in TIME_WAIT do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(place)
            probe.listen(1)
        except PermissionError:
            return False
        except OSError as error:
            return error.errno != 98  # EADDRINUSE
    return True


def port_holder(port: int) -> str:
    """Return 'process NAME (pid N)' of the listener of a port, empty when unknown."""
    for folder in _holders(port):
        with contextlib.suppress(OSError):
            text = _command(folder)
            short = text if len(text) <= 60 else text[:57] + '...'
            return f'process {short} (pid {folder.name})'
    return ''


def commands_of_holders(port: int) -> list[str]:
    """
    Return the command line of each visible process that listens on a port.

    It is empty for a process that is ending, whose memory is released before its files.  Processes
    of other users are not visible.
    """
    commands = []
    for folder in _holders(port):
        with contextlib.suppress(OSError):  # it has ended
            commands.append(_command(folder))
    return commands


def _holders(port: int) -> Iterator[Path]:
    """Yield the folders in /proc of the processes that listen on a port."""
    inodes = _listening_inodes(port)
    for folder in Path('/proc').glob('[0-9]*') if inodes else ():
        with contextlib.suppress(OSError):
            if any(_target(link) in inodes for link in (folder / 'fd').iterdir()):
                yield folder


def _target(link: Path) -> str:
    try:
        return os.readlink(link)
    except OSError:
        return ''


def _command(folder: Path) -> str:
    words = (folder / 'cmdline').read_bytes().split(b'\0')
    return ' '.join(word.decode('utf-8', 'replace') for word in words if word)


def _listening_inodes(port: int) -> set[str]:
    """Return `socket:[inode]` of the sockets that listen on the port (proc_pid_net(5))."""
    found = set()
    for table in ('/proc/net/tcp', '/proc/net/tcp6'):
        with contextlib.suppress(OSError):
            for line in Path(table).read_text(encoding='ascii').splitlines()[1:]:
                words = line.split()
                if words[3] == _LISTEN and int(words[1].rpartition(':')[2], 16) == port:
                    found.add(f'socket:[{words[9]}]')
    return found
