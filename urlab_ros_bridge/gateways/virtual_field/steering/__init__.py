# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Steering: arms of users, and setpoints from the poses of their controllers."""

__all__: list[str] = []
