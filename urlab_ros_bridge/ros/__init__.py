# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The ROS 2 package: messages, node and parameters of the bridge.

With policy/, the only package that imports rclpy.  It knows the simulation through `client` alone.
"""

__all__: list[str] = []
