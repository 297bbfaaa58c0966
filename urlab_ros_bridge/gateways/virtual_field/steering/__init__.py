# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Steering: operators and their arms, and the path from a controller to setpoints."""

__all__: list[str] = []
