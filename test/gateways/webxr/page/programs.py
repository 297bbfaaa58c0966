# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Simulations as processes of their own, and gateways with a page in front of them."""

from contextlib import contextmanager
import re
import subprocess
import sys

from lifelines import start_process

from urlab_ros_bridge.gateways.webxr.serving.server import WebXrConfig
from urlab_ros_bridge.gateways.webxr.serving.server import WebXrServer

PORTS = ('rpc', 'state', 'camera', 'control', 'info')


@contextmanager
def simulation(world, *words):
    """Run a world; yield its RPC port."""
    process = start_process(
        [sys.executable, '-m', 'urlab_ros_bridge.cli.main', 'server', f'--world={world}',
         *(f'--{name}-port=0' for name in PORTS), '--cameras=off', *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )  # fmt: skip
    try:
        line = process.stdout.readline()
        yield int(re.search(r'rpc=tcp://[^:]+:(\d+)', line)[1])
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


@contextmanager
def gateway_at(rpc_port, page, *, port=0):
    """Run a gateway that serves a page."""
    server = WebXrServer(WebXrConfig(rpc_port=rpc_port, port=port), page, page)
    server.start(30.0)
    try:
        yield server
    finally:
        server.stop()
