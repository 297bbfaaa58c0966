# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The Chiral protocol for robot policies, served for any robot of a URLab server."""

__all__: list[str] = []
