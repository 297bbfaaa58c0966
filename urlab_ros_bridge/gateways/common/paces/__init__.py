# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""How setpoints relate to time: the world waits for them, or it does not."""

__all__: list[str] = []
