# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Peers of a gateway: access rules, their WebSockets, and the turns of their requests."""

__all__: list[str] = []
