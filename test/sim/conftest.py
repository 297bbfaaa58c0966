# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A dispatcher without sockets, and a server on free ports."""

from pathlib import Path
import sys
import threading
import uuid

from bundled_server import start_server
import pytest
from rig import Caller
from rig import Rig
import zmq

# Helpers of this folder (importlib mode adds no folder to the path).
sys.path.insert(0, str(Path(__file__).parent))

# How long a reply is waited for at most (s): machines stall.
PATIENCE = 60.0


@pytest.fixture
def rig():
    """Return a factory of rigs."""
    return Rig


@pytest.fixture
def rover(rig):
    """Return a rover in direct mode."""
    return rig(mode='direct')


@pytest.fixture
def quadruped(rig):
    """Return a quadruped in direct mode."""
    return rig(mode='direct', world='quadruped')


@pytest.fixture(scope='module')
def shared_rig():
    """Return a rover in direct mode that all tests of a module share."""
    return Rig(mode='direct')


@pytest.fixture
def mjcf(tmp_path):
    """Write MJCF text to a file and return its path."""

    def write(text, name=None):
        path = Path(tmp_path) / f'{name or "m" + uuid.uuid4().hex[:8]}.xml'
        path.write_text(text)
        return path

    return write


class Socket(Caller):
    """A stock REQ client of a server."""

    def __init__(self, endpoint, timeout=PATIENCE):
        self.socket = zmq.Context.instance().socket(zmq.REQ)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.setsockopt(zmq.RCVTIMEO, int(timeout * 1000))
        self.socket.connect(endpoint)
        self.busy = threading.Lock()
        super().__init__(self._exchange)

    def _exchange(self, frame):
        with self.busy:
            self.socket.send(frame)
            return self.socket.recv()

    def close(self):
        # A thread of a test that has failed may still wait: closing then would end the process.
        if self.busy.acquire(blocking=False):
            self.socket.close()


@pytest.fixture
def server(keep):
    """Return a factory of running servers on free ports; they are stopped at the end."""
    return lambda **config: keep(start_server(**config))


@pytest.fixture
def connect(keep):
    """Return a factory of stock clients; their sockets are closed at the end."""

    def start(server, timeout=PATIENCE, **hello):
        socket = keep(Socket(server.endpoints['rpc'], timeout))
        socket.hello(**hello)
        return socket

    return start


@pytest.fixture
def folder(tmp_path):
    """Return a folder with the files that the sidecars of the tests name."""
    for name in ('depot.xml', 'rover_robot.xml', 'arm.xml'):
        (tmp_path / name).write_text('<mujoco/>')
    return tmp_path
