# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Servers of the gateways: access rules, WebSockets and executors."""

__all__: list[str] = []
