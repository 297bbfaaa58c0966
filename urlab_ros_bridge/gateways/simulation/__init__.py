# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A gateway's side of the simulation: the link to the server and what it reports."""

__all__: list[str] = []
