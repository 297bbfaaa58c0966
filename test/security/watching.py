# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Two independent observers of the files and code that a program uses.

The audit hook of Python (PEP 578) writes down what Python itself opens, changes and starts;
inotify tells whether anybody at all has opened certain files, be it MuJoCo's C code or a child.
"""

import ctypes
import ipaddress
import os
import struct

# As sitecustomize it is there before the program begins.
HOOK = """
import os, sys

def _begin():
    log = os.open(os.environ['URLAB_TEST_AUDIT'], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    changes = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    recorded = {
        'os.remove', 'os.rename', 'os.mkdir', 'os.rmdir', 'os.link', 'os.symlink', 'os.truncate',
        'os.chmod', 'os.chown', 'os.system', 'os.exec', 'os.posix_spawn', 'os.spawn',
        'subprocess.Popen', 'shutil.rmtree', 'ctypes.dlopen', 'import', 'os.listdir', 'os.scandir',
        'sqlite3.connect', 'pty.spawn', 'os.startfile', 'urllib.Request', 'socket.connect',
    }

    def hook(event, args):
        if event == 'open':
            event = 'write' if isinstance(args[2], int) and args[2] & changes else 'read'
        elif event not in recorded:
            return
        line = '\\t'.join([event, *(repr(arg)[:300] for arg in args[:2])]) + '\\n'
        os.write(log, line.encode('utf-8', 'backslashreplace'))

    sys.addaudithook(hook)

_begin()
"""
# Accesses, changes, opens, moves, new and removed files.
_MASK = 0x1 | 0x2 | 0x20 | 0xC0 | 0x100 | 0x200
_EVENT = struct.Struct('iIII')


def audited(folder):
    """Return the variables under which programs write down what they do, and the file."""
    (folder / 'sitecustomize.py').write_text(HOOK)
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get('PYTHONPATH'))))
    log = folder / 'audit.txt'
    return {'PYTHONPATH': path, 'URLAB_TEST_AUDIT': str(log)}, log


def events(log):
    """Return (event, arguments) of all that was written down."""
    rows = (line.split('\t') for line in log.read_text(errors='replace').splitlines())
    return [(row[0], row[1:]) for row in rows]


def beyond_loopback(places):
    """Return which of the places that `listening` tells can be reached from elsewhere."""
    return sorted(place for place in places if not ipaddress.ip_address(place[1]).is_loopback)


class Canary:
    """Files and folders that nobody should open or change."""

    def __init__(self, *places):
        libc = ctypes.CDLL(None, use_errno=True)
        self._handle = libc.inotify_init1(os.O_NONBLOCK)
        assert self._handle >= 0, os.strerror(ctypes.get_errno())
        self._names = {}
        for place in places:
            watch = libc.inotify_add_watch(self._handle, os.fsencode(place), _MASK)
            assert watch > 0, os.strerror(ctypes.get_errno())
            self._names[watch] = str(place)

    def seen(self):
        """Return place and mask of the first change since the last call, '' for none."""
        try:
            watch, mask, _, _ = _EVENT.unpack_from(os.read(self._handle, 1 << 20))
        except BlockingIOError:
            return ''
        return f'{self._names[watch]}: {mask:#x}'

    def close(self):
        os.close(self._handle)
