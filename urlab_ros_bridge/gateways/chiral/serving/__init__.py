# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The gateway: connections, sessions, the driver and its requests."""

__all__: list[str] = []
