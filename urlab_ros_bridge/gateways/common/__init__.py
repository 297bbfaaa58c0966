# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What all gateways share; nothing here knows any of their protocols."""

__all__: list[str] = []
