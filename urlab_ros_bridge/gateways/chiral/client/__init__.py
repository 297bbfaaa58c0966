# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Clients of any Chiral server, with and without asyncio."""

from urlab_ros_bridge.gateways.chiral.client.async_client import AsyncChiralClient
from urlab_ros_bridge.gateways.chiral.client.client import ChiralClient

__all__ = ['AsyncChiralClient', 'ChiralClient']
