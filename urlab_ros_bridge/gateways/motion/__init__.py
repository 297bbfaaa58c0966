# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Setpoints, interpolation between them, and inverse kinematics."""

__all__: list[str] = []
