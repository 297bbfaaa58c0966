# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Simulations as processes of their own, and gateways in front of them."""

from contextlib import contextmanager
from pathlib import Path

from urlab_programs import ANY_PORTS
from urlab_programs import port_of
from urlab_programs import program

from test.gateways.running import field_at
from urlab_ros_bridge.client import Client


@contextmanager
def simulation(world, *words, cameras=False):
    """Run a world, of this name or of a file; yield its RPC port."""
    option = 'model' if isinstance(world, Path) else 'world'
    if not cameras:
        words = ('--cameras=off', *words)
    with program('server', f'--{option}={world}', *ANY_PORTS, *words) as (_, line):
        yield port_of(line)


@contextmanager
def stepped_world(world):
    """Run a world in which time passes by steps alone; yield a client and a gateway."""
    with simulation(world) as port, Client(rpc_port=port, shared=True) as client:
        client.connect()
        client.set_mode('direct')
        with field_at(port) as gateway:
            yield client, gateway
