# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The ROS 2 room: messages, node and parameters of the bridge.

The only room that imports rclpy.  It knows the simulation through `client` alone.
"""

__all__: list[str] = []
