# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The arguments of commands and launch files: described once, read and checked in one way."""
