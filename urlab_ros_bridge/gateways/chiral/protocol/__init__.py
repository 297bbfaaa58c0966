# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The Chiral protocol as bytes: frames and messages."""

__all__: list[str] = []
