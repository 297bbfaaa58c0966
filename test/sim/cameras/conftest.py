# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A small world with a camera of every kind, and servers that render it."""

from pathlib import Path
import sys

import pytest

from urlab_ros_bridge.sim.building import build_simulation
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.model.world import load_world
from urlab_ros_bridge.sim.requests.paths import DataFolder

sys.path.insert(0, str(Path(__file__).parent))

from bundled_server import start_server
from camera_lab import CART
from camera_lab import connect
from camera_lab import SCENE
from camera_lab import SIDECAR


@pytest.fixture(scope='session')
def lab(tmp_path_factory) -> Path:
    """Return the sidecar of the small world."""
    folder = tmp_path_factory.mktemp('lab')
    for name, text in (('scene.xml', SCENE), ('cart.xml', CART), ('lab.yaml', SIDECAR)):
        (folder / name).write_text(text)
    return folder / 'lab.yaml'


@pytest.fixture
def lab_context(lab, tmp_path):
    """Return the small world without threads and sockets."""
    config = ServerConfig(model=lab)
    return build_simulation(config, DataFolder(tmp_path, False), load_world(config))


@pytest.fixture(scope='package')
def lab_server(lab):
    """Return a server of the small world, for all tests that leave it as it was."""
    server = start_server(model=lab, paused=True)
    yield server
    server.stop()


@pytest.fixture
def client(lab_server):
    """Return a client, in live mode and paused, at time 0."""
    client = connect(lab_server)
    client.set_mode('live')
    client.set_paused(True)
    client.reset()
    yield client
    client.set_mode('live')
    client.set_paused(True)
    client.set_sim_speed(100.0)
    client.close()
