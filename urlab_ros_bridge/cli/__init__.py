# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The `urlab` command.  Tables of arguments and processes, and what connects the packages."""

__all__: list[str] = []
