# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The Chiral protocol for robot policies: a gateway for any robot of a URLab server, and a client.

The client is imported from `urlab_ros_bridge.gateways.chiral.client`, so that neither half needs
what only the other one uses.
"""

from urlab_ros_bridge.gateways.chiral.protocol.codec import Action
from urlab_ros_bridge.gateways.chiral.protocol.codec import CameraView
from urlab_ros_bridge.gateways.chiral.protocol.codec import Observation

__all__ = ['Action', 'CameraView', 'Observation']
