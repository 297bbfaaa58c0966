# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A client of the monitors' port: watches, and commands as a trainer."""

from simspark_client.clients import MonitorClient
from simspark_client.scene_view import SceneView
from simspark_client.scene_view import ViewedNode

__all__ = ['MonitorClient', 'SceneView', 'ViewedNode']
