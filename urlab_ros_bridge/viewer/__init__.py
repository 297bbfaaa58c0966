# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""MuJoCo's own viewer on a running simulation, for `urlab view`."""

__all__: list[str] = []
