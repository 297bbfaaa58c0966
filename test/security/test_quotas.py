# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The limits that SECURITY.md names are those of the code, and clients are told which they met."""

from pathlib import Path
import re
import resource
import socket
import time

import pytest

from test.security.programs import ANY_PORTS
from test.security.programs import port_of
from test.security.programs import program
from urlab_ros_bridge.client import Client
from urlab_ros_bridge.client.errors import RemoteError
from urlab_ros_bridge.client.errors import RequestTimeout
from urlab_ros_bridge.gateways.serving import websocket_server
from urlab_ros_bridge.gateways.simspark import connections as simspark
from urlab_ros_bridge.gateways.simspark.wire import framing
from urlab_ros_bridge.gateways.virtual_field.protocol import foreign_gltf
from urlab_ros_bridge.gateways.virtual_field.serving import publications
from urlab_ros_bridge.sim import shared_memory
from urlab_ros_bridge.sim.editor import drawings
from urlab_ros_bridge.sim.editor.ops import scene
from urlab_ros_bridge.sim.model.client_models import limits as models
from urlab_ros_bridge.sim.ops import step
from urlab_ros_bridge.sim.requests import fields
from urlab_ros_bridge.sim.requests import paths
from urlab_ros_bridge.sim.requests import sessions
from urlab_ros_bridge.transport import publisher
from urlab_ros_bridge.transport import router
from urlab_ros_bridge.transport import server_sockets
from urlab_ros_bridge.transport import unfinished
from urlab_ros_bridge.wire.encoding import limits as wire

PATIENCE = 60.0
PAGE = (Path(__file__).parents[2] / 'SECURITY.md').read_text()
MIB = 1 << 20
# First words of the row -> the numbers in it, in order.
NUMBERS = {
    'request': (
        wire.MAX_REQUEST_BYTES // MIB, 2, wire.MAX_ITEMS, wire.MAX_DEPTH, 2,
        wire.MAX_JSON_VALUES, 2, wire.MAX_JSON_CONTAINERS,
    ),
    'calls that wait': (router.MAX_CALLS, router.MAX_CALLS_OF_ONE),
    'large replies': (router.MAX_UNREAD_BYTES // MIB,),
    'parts of a message': (router.MAX_PARTS,),
    'an unfinished message': (int(unfinished.MAX_SECONDS), unfinished.MAX_BYTES // MIB),
    'handshake of a connection': (server_sockets._HANDSHAKE_MS // 1000,),
    'shared sessions': (sessions.MAX_SHARED,),
    'subscriptions': (publisher.MAX_SUBSCRIPTIONS, publisher.MAX_TOPIC_BYTES // 1024),
    'channels of shared': (shared_memory.MAX_CHANNELS,),
    'model of a client': (
        models.SIZES['nbody'][1], models.SIZES['ngeom'][1], models.SIZES['ncam'][1],
        models.SIZES['bytes'][1] >> 30, models.CPU_SECONDS, models.MEMORY_BYTES >> 30,
    ),
    'all that clients spawn': (
        models.SIZES['nbody'][2], models.SIZES['ngeom'][2], models.SIZES['bytes'][2] >> 30,
    ),
    'data folder': (int(paths.LIMIT_GB), paths.MAX_FILES),
    'steps of one': (step.MAX_STEPS, 5),
    'solver options': (models.ITERATIONS, models.LINE_SEARCHES, models.STEP_SECONDS),
    'a world changed': (
        models.STEP_SECONDS, models.CAMERAS, 2, models.CAMERA_PIXELS, models.RAY_TESTS,
    ),
    'text in a': (fields.MAX_TEXT, fields.MAX_NAME),
    'cells of a grid': (scene.MAX_CELLS, drawings.MAX_DRAWINGS),
    'connections of a WebSocket': (
        websocket_server.MAX_CONNECTIONS, websocket_server.MAX_DOWNLOADS,
        websocket_server.MAX_HANDSHAKES,
    ),
    'Virtual Field': (
        publications.MAX_MESHES, foreign_gltf.MAX_MESH_BYTES // MIB,
        publications.MAX_TOTAL_BYTES // MIB,
    ),
    'connections of SimSpark': (
        simspark.MAX_CLIENTS, framing.MAX_COMMAND // 1024,
    ),
}  # fmt: skip


@pytest.mark.parametrize('row', NUMBERS)
def test_the_page_names_the_limits_of_the_code(row):
    (cell,) = re.findall(rf'^\| {re.escape(row)}[^|]*\| ([^|]*) \|', PAGE, re.M)
    found = []
    for base, power in re.findall(r'(\d[\d,]*)(?:\^(\d+))?', cell):
        number = int(base.strip(',').replace(',', ''))
        found += [number, number ** int(power)] if power else [number]
    assert tuple(found) == NUMBERS[row]


@pytest.fixture(scope='module')
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp('data')
    words = ('server', '--cameras=off', f'--data-dir={folder}', '--data-limit=0.00001')
    with program(*words, *ANY_PORTS) as (process, line):
        yield process, port_of(line)


@pytest.fixture
def port(server):
    return server[1]


def test_a_server_says_which_limit_was_met(port):
    with Client(rpc_port=port, shared=True, timeout=PATIENCE) as first:
        first.recording_start('lap')
        first.set_mode('direct')
        first.step(500)
        first.recording_stop()
        with pytest.raises(RemoteError, match='no room') as caught:
            first.recording_save()
        assert caught.value.code == 'path_not_writable'
        with pytest.raises(RemoteError, match='at most 10000000') as caught:
            first.step(step.MAX_STEPS + 1)
        assert caught.value.code == 'bad_value'
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


def test_a_server_without_descriptors_left_serves_those_that_are_there(server):
    process, port = server
    before = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
    used = descriptors(process.pid)
    links = []
    with Client(rpc_port=port, shared=True, timeout=PATIENCE) as client:
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (used + 20, before[1]))
        try:
            for _ in range(40):  # the system keeps those that the server cannot take
                links.append(socket.create_connection(('127.0.0.1', port), PATIENCE))
            assert client.status()
            with pytest.raises(RequestTimeout):
                Client(rpc_port=port, shared=True, timeout=1.0).connect()
        finally:
            for link in links:
                link.close()
            resource.prlimit(process.pid, resource.RLIMIT_NOFILE, before)
        assert client.status()
    with Client(rpc_port=port, shared=True, timeout=PATIENCE) as late:
        assert late.status()
