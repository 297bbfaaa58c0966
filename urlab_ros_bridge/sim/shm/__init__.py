# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Shared memory of the server: its directory, and which clients have what open."""

__all__: list[str] = []
