# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Episodes of a policy, and what is kept of them."""

__all__: list[str] = []
