# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The processes of a running suite: the table, and what starts and ends them."""
