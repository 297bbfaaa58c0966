# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The end of a server is noticed without requests."""

import signal
import subprocess
import sys
import threading
import time

from lifelines import start_process
from ports import free_port
import pytest

from urlab_ros_bridge.transport.connection_events import ServerWatch

SERVER = """
import sys, zmq
socket = zmq.Context().socket(zmq.REP)
socket.bind(f'tcp://127.0.0.1:{sys.argv[1]}')
print('ready', flush=True)
socket.recv()
"""


class Lost(threading.Event):
    """Counts its calls."""

    count = 0

    def __call__(self):
        self.count += 1
        self.set()


@pytest.fixture
def server():
    """Yield a process with a REP socket, and its endpoint."""
    port = free_port()
    process = start_process(
        [sys.executable, '-c', SERVER, str(port)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == 'ready\n'
    yield process, f'tcp://127.0.0.1:{port}'
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.mark.parametrize('number', [signal.SIGKILL, signal.SIGTERM])
def test_the_end_of_a_server_is_reported_once_and_at_once(server, number):
    process, endpoint = server
    lost = Lost()
    watch = ServerWatch(endpoint, lost)
    assert not lost.wait(0.3)  # nothing happens as long as it is there
    process.send_signal(number)
    assert lost.wait(20)
    time.sleep(0.3)
    watch.stop()
    watch.stop()
    assert lost.count == 1


def test_a_server_that_ended_before_the_watch_is_reported(monkeypatch):
    monkeypatch.setattr('urlab_ros_bridge.transport.connection_events._CONNECT_SECONDS', 0.3)
    lost = Lost()
    watch = ServerWatch(f'tcp://127.0.0.1:{free_port()}', lost)
    assert lost.wait(20)
    watch.stop()
