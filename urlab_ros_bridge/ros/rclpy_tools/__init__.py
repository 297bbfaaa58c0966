# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What rclpy lacks: QoS, optional interfaces, side nodes, action servers, publishers."""
