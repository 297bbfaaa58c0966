# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A client at a limit gets an error that names it, and other clients are still served."""

import contextlib
import os
from pathlib import Path
import resource
import socket
import time

from lifelines import run_process
import pytest
from urlab_programs import ANY_PORTS
from urlab_programs import port_of
from urlab_programs import program

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.client.errors import RemoteError

PATIENCE = 60.0
FEW_DESCRIPTORS = ('sh', '-c', 'ulimit -S -n 512 && exec "$@"', 'sh')
# Runs a program with 8 MiB of /dev/shm, which nobody else uses.
SMALL_SHM = (
    *('unshare', '--user', '--map-root-user', '--mount', 'sh', '-c'),
    'mount -t tmpfs -o size=8M none /dev/shm && unset XDG_RUNTIME_DIR && exec "$@"',
    'sh',
)


@pytest.fixture(scope='module')
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp('data')
    words = ('server', '--cameras=off', f'--data-dir={folder}', '--data-limit=0.00001')
    with program(*words, *ANY_PORTS, within=FEW_DESCRIPTORS) as (process, line):
        yield process, port_of(line)


@pytest.fixture
def port(server):
    return server[1]


def test_an_error_names_the_limit_that_was_reached(port):
    with Client(rpc_port=port, shared=True, timeout=PATIENCE) as first:
        first.recording_start('lap')
        first.set_mode('direct')
        first.step(500)
        first.recording_stop()
        with pytest.raises(RemoteError, match='no room') as caught:
            first.recording_save()
        assert caught.value.code == 'path_not_writable'
        opened = [Client(rpc_port=port, shared=True, timeout=PATIENCE) for _ in range(64)]
        for client in opened:
            client.connect()
        # The one that was unused for longest has ended, and comes back by itself.
        generation = first.generation
        assert first.status() and first.generation == generation + 1
        for client in opened:
            client.close()


def descriptors(pid):
    """Return how many descriptors a program has, once those of clients that left are closed."""
    count, before = -1, None
    while count != before:
        time.sleep(0.3)
        count, before = len(list(Path(f'/proc/{pid}/fd').iterdir())), count
    return count


def test_idle_connections_keep_nobody_out(server):
    process, port = server
    before = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
    assert before[0] == min(before[1], 1 << 16), 'the limit of the shell is not kept'
    used = descriptors(process.pid)
    with contextlib.ExitStack() as links:
        client = links.enter_context(Client(rpc_port=port, shared=True, timeout=PATIENCE))
        assert client.status()
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (used + 20, before[1]))
        try:
            for _ in range(60):  # the system keeps those that the server cannot take
                link = socket.create_connection(('127.0.0.1', port), PATIENCE)
                links.enter_context(link)
            generation = client.generation
            with Client(rpc_port=port, shared=True, timeout=PATIENCE) as late:
                assert late.status()
            assert client.status() and client.generation == generation
        finally:
            resource.prlimit(process.pid, resource.RLIMIT_NOFILE, before)


@pytest.fixture
def small_shm():
    """Return words that run a program with little shared memory."""
    if run_process([*SMALL_SHM, 'true'], capture_output=True).returncode:
        pytest.skip('this machine lets users mount nothing')
    return SMALL_SHM


def test_requests_go_over_zeromq_while_shared_memory_is_full(small_shm):
    """Whatever is left, the server writes to no memory that it has not reserved (SIGBUS)."""

    def channels():
        return list(shm.glob('urlab-*/URLabShm/*/rep_*.shm'))

    with program('server', '--cameras=off', *ANY_PORTS, within=small_shm) as (process, line):
        shm = Path(f'/proc/{process.pid}/root/dev/shm')
        filler, port = shm / 'filler', port_of(line)
        for kib in (0, 2052, 2056, 2060, 2180):  # a request region has 2052
            filler.write_bytes(b'')
            free = os.statvfs(shm)
            with filler.open('wb') as file:
                os.posix_fallocate(file.fileno(), 0, free.f_bavail * free.f_bsize - kib * 1024)
            with Client(rpc_port=port, shared=True, timeout=PATIENCE) as client:
                assert client.status() and not channels(), f'{kib} KiB are free'
        filler.unlink()
        with Client(rpc_port=port, shared=True, timeout=PATIENCE) as client:
            assert client.status() and channels()
