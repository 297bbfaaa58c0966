# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Evaluation of policies over Chiral: episodes, their results and recordings."""

__all__: list[str] = []
