# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Virtual Field gateway: any simulation, watched and steered from a browser or headset.

It speaks the Python-WebXR protocol, version 1, on one port with the page that it serves.
"""

__all__: list[str] = []
