# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The clients that the link to the server uses."""

from __future__ import annotations

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.ros.settings import Settings

NAME = 'urlab_ros_bridge'


def make_client(settings: Settings, name: str = NAME) -> Client:
    """Return a client of the server that the settings name; it is not connected yet."""
    return Client(
        settings.host,
        settings.rpc_port,
        state_port=settings.state_port,
        shared=True,
        name=name,
        timeout=settings.rpc_timeout,
    )
