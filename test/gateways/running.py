# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The gateways in this process, as long as a context lasts."""

from contextlib import contextmanager

from urlab_ros_bridge.gateways.chiral.profile.profile import Profile
from urlab_ros_bridge.gateways.chiral.profile.profile import read_profile
from urlab_ros_bridge.gateways.chiral.serving.server import ChiralConfig
from urlab_ros_bridge.gateways.chiral.serving.server import ChiralServer
from urlab_ros_bridge.gateways.simspark.agents.agents import Agents
from urlab_ros_bridge.gateways.simspark.serving.gateway import SimSparkConfig
from urlab_ros_bridge.gateways.simspark.serving.gateway import SimSparkGateway
from urlab_ros_bridge.gateways.virtual_field.serving.server import WebXrConfig
from urlab_ros_bridge.gateways.virtual_field.serving.server import WebXrServer


@contextmanager
def started(server):
    """Start a gateway; it is stopped at the end."""
    server.start(30.0)
    try:
        yield server
    finally:
        server.stop()


def chiral_at(rpc_port, profile=None, **config):
    """Run a gateway with a profile, or with its differences from one without cameras."""
    if not isinstance(profile, Profile):
        profile = read_profile({'cameras': [], **(profile or {})})
    return started(ChiralServer(ChiralConfig(profile, rpc_port=rpc_port, **{'port': 0} | config)))


def simspark_at(rpc_port, agents=None, referee=None, **config):
    """Run a gateway with these roles."""
    config = SimSparkConfig(rpc_port=rpc_port, **{'agent_port': 0, 'monitor_port': 0} | config)
    return started(SimSparkGateway(config, agents or Agents(), referee))


def field_at(rpc_port, files=None, **config):
    """Run a gateway, with our own page if its files are given."""
    return started(WebXrServer(WebXrConfig(rpc_port=rpc_port, **{'port': 0} | config), files))
