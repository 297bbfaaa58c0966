# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Processes of our own tests; those of users start theirs by the same functions."""

from urlab_ros_bridge.testing.processes import run_process
from urlab_ros_bridge.testing.processes import start_process

__all__ = ['run_process', 'start_process']
