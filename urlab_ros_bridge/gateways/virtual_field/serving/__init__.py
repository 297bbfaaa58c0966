# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The gateway: clients by their roles, the ticks that they all see, and our own page."""

__all__: list[str] = []
