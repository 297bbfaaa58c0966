# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Shared memory: the layout of a region, writing and reading it, and waiting for a write."""

from urlab_ros_bridge.transport.shm.access import RegionReader
from urlab_ros_bridge.transport.shm.access import RegionWriter
from urlab_ros_bridge.transport.shm.region import Region

__all__ = ['Region', 'RegionReader', 'RegionWriter']
