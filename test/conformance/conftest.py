# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Sound servers for the suite."""

import contextlib
from pathlib import Path
import sys

from bundled_server import running_server
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from urlab_ros_bridge.conformance import Peer
from urlab_ros_bridge.conformance import Places
from urlab_ros_bridge.conformance.checks.streams import cameras
from urlab_ros_bridge.conformance.local_server import WORLD
from urlab_ros_bridge.editor.extension import extend


@pytest.fixture(scope='module', autouse=True)
def _patient_with_images():
    """On a busy machine images come later."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cameras, 'FIRST_FRAME', 120.0)
        yield


@contextlib.contextmanager
def running(folder, editor=False, **config):
    """Yield where a server with the suite's world listens; a live world takes processor time."""
    extensions = [extend] if editor else []
    with running_server(*extensions, **{'model': WORLD, 'data_dir': folder, **config}) as server:
        places = server.endpoints
        names = ('rpc', 'state', 'control', 'info')
        yield Places('127.0.0.1', *(places.get(name, '') for name in names))


@pytest.fixture
def start_server(tmp_path_factory):
    """Return a factory of servers with the suite's world; they are stopped after the test."""
    with contextlib.ExitStack() as servers:
        yield lambda **config: servers.enter_context(
            running(tmp_path_factory.mktemp('data'), **config)
        )


@pytest.fixture(scope='package')
def sound(tmp_path_factory):
    """Return where a server without faults listens."""
    with running(tmp_path_factory.mktemp('data')) as places:
        yield places


@pytest.fixture
def connect(keep):
    """Return a factory of peers, closed at the end."""

    def start(places: Places) -> Peer:
        peer = keep(Peer(places))
        peer.connect()
        return peer

    return start
