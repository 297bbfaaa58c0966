# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Episodes of a policy, and their recordings."""

__all__: list[str] = []
