# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Sound servers for the suite: one with sockets, one without."""

import contextlib
from pathlib import Path
import signal
import subprocess
import sys

from lifelines import start_process
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from urlab_ros_bridge.conformance import Peer
from urlab_ros_bridge.conformance import Places
from urlab_ros_bridge.conformance.local_server import WORLD
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.model.world import load_world
from urlab_ros_bridge.sim.ops import build_registry
from urlab_ros_bridge.sim.ops.session import pre_session_ops
from urlab_ros_bridge.sim.ops.stepping import include_cameras
from urlab_ros_bridge.sim.server import Server
from urlab_ros_bridge.sim.stage import build_context
from urlab_ros_bridge.sim.stage import Stage
from urlab_ros_bridge.sim.transports.dispatcher import Dispatcher

ROOT = Path(__file__).resolve().parents[2]
PORTS = dict.fromkeys(('rpc_port', 'state_port', 'camera_port', 'control_port', 'info_port'), 0)


@pytest.fixture(scope='session', autouse=True)
def _patient_with_pictures():
    """A picture that comes late is left out of a reply; on a busy machine it may come later."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(include_cameras, 'FRAME_SECONDS', 15.0)
        yield


@contextlib.contextmanager
def running(folder, **config):
    """Yield where a server with the suite's world listens; a live world takes processor time."""
    server = Server(ServerConfig(**{'model': WORLD, 'data_dir': folder, **PORTS, **config}))
    server.start()
    try:
        places = server.endpoints
        names = ('rpc', 'state', 'control', 'info')
        yield Places('127.0.0.1', *(places.get(name, '') for name in names))
    finally:
        server.stop()


@pytest.fixture
def start_server(tmp_path_factory):
    """Return a factory of servers with the suite's world; they are stopped after the test."""
    with contextlib.ExitStack() as servers:
        yield lambda **config: servers.enter_context(
            running(tmp_path_factory.mktemp('data'), **config)
        )


@pytest.fixture(scope='package', autouse=True)
def run_of_users(request, tmp_path_factory):
    """
    Run the whole suite as users do, beside the tests before the one that judges it.

    It takes a quarter of a minute, and waits nearly all of it.
    """
    name = 'test_the_bundled_server_follows_every_rule'
    if not any(item.name == name for item in request.session.items):
        yield None
        return
    folder = tmp_path_factory.mktemp('run')
    command = [sys.executable, '-m', 'urlab_ros_bridge.cli.main', 'conformance']
    command += ['--json', str(folder / 'results.json')]
    with (folder / 'said').open('wb') as said:
        process = start_process(command, cwd=ROOT, stdout=said, stderr=subprocess.STDOUT)
    yield process, folder
    if process.poll() is None:
        process.send_signal(signal.SIGINT)  # it ends its own server
        process.wait(20)


@pytest.fixture(scope='package')
def sound(tmp_path_factory):
    """Return where a server without faults listens."""
    with running(tmp_path_factory.mktemp('data')) as places:
        yield places


@pytest.fixture(scope='session')
def dispatch(tmp_path_factory):
    """Return what answers request frames, without sockets; time runs only by requests."""
    config = ServerConfig(model=WORLD, data_dir=tmp_path_factory.mktemp('data'))
    stage = Stage(config)
    stage.context = build_context(config, stage.data, load_world(config))
    registry = build_registry()
    return Dispatcher(stage, registry, pre_session_ops(registry)).dispatch


@pytest.fixture
def connect():
    """Return a factory of peers, closed at the end."""
    made = []

    def start(places: Places) -> Peer:
        peer = Peer(places)
        made.append(peer)
        peer.connect()
        return peer

    yield start
    for peer in made:
        peer.close()
