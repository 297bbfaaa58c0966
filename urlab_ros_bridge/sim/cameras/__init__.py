# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Cameras of the step server: rendered off screen, in their own process (docs/cameras.md)."""
