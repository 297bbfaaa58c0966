# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The `urlab` command.  Thin: tables of arguments and processes, and the wiring of the rooms."""

__all__: list[str] = []
