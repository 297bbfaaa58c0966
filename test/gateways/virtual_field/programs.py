# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Simulations as processes of their own, and gateways in front of them."""

from contextlib import contextmanager
from pathlib import Path
import re
import subprocess
import sys

from lifelines import start_process

from test.gateways.running import field_at
from urlab_ros_bridge.client import Client

PORTS = ('rpc', 'state', 'camera', 'control', 'info')
URLAB = (sys.executable, '-m', 'urlab_ros_bridge.cli.main')


@contextmanager
def program(*command):
    """Run a program; yield its first line."""
    process = start_process(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield process.stdout.readline()
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


@contextmanager
def simulation(world, *words, cameras=False):
    """Run a world, of this name or of a file; yield its RPC port."""
    option = 'model' if isinstance(world, Path) else 'world'
    ports = [f'--{name}-port=0' for name in PORTS]
    if not cameras:
        words = ('--cameras=off', *words)
    with program(*URLAB, 'server', f'--{option}={world}', *ports, *words) as line:
        yield int(re.search(r'rpc=tcp://[^:]+:(\d+)', line)[1])


@contextmanager
def stepped_world(world):
    """Run a world in which time passes by steps alone; yield a client and a gateway."""
    with simulation(world) as port, Client(rpc_port=port, shared=True) as client:
        client.connect()
        client.set_mode('direct')
        with field_at(port) as gateway:
            yield client, gateway
