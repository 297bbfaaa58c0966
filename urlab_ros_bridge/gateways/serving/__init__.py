# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Servers of the gateways: access rules, WebSockets, executors and limited logs."""

__all__: list[str] = []
