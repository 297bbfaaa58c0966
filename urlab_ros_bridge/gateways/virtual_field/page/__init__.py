# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The server side of the browser page: its files, its world, its state and its commands."""

__all__: list[str] = []
