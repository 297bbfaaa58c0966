# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The bundled server in this process, on free ports."""

from contextlib import contextmanager

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.sim.cameras import supervisor
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.ops import cameras
from urlab_ros_bridge.sim.server import Server

# An image that is late is left out of a reply, and on a busy machine every image may be.
cameras.FRAME_SECONDS = 60.0
supervisor.START_SECONDS = 120.0

ANY_PORTS = dict.fromkeys(
    ('rpc_port', 'state_port', 'camera_port', 'control_port', 'info_port'), 0
)


def start_server(*extensions, **config):
    """Return a running server; its caller stops it."""
    server = Server(ServerConfig(**{**ANY_PORTS, **config}), extensions)
    server.start()
    return server


@contextmanager
def running_server(*extensions, **config):
    """Run a server as long as the context lasts."""
    server = start_server(*extensions, **config)
    try:
        yield server
    finally:
        server.stop()


def port_of(server, name='rpc'):
    """Return a port of a server: rpc, state, ..."""
    return int(server.endpoints[name].rpartition(':')[2])


def ports_of(server):
    """Return the ports of a server as keywords of a client."""
    return {f'{name}_port': port_of(server, name) for name in ('rpc', 'state')}


def client_of(server, **options):
    """Return a connected client of a server; its caller closes it."""
    client = Client(**ports_of(server), **options)
    client.connect()
    return client


@contextmanager
def simulation(world, **config):
    """Run a world as long as the context lasts; yield the port of its requests."""
    with running_server(world=world, **config) as server:
        yield port_of(server)
