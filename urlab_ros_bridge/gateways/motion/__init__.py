# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Setpoints, the path to them, and the joint positions for the pose of a hand."""

__all__: list[str] = []
