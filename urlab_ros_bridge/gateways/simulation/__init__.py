# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The link of a gateway to the simulation, the state that it reports, and stepped time."""

__all__: list[str] = []
