# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Descriptions of robots: URDF, links and shapes from the compiled model."""
