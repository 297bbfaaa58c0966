# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Other protocols, served on top of the URLab client.  No ROS here, and no simulator."""

__all__: list[str] = []
