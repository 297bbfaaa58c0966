# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The visible scene: bodies, arms and contacts of one step of the simulation."""

__all__: list[str] = []
