# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The URLab protocol as tables and pure functions: no sockets, no MuJoCo, no ROS."""
