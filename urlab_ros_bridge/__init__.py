# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""ROS 2 and other faces for robot simulations that speak the URLab protocol."""

__all__ = ['__version__']

__version__ = '0.1.0'
