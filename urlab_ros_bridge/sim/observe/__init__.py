# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What clients see of a state: replies and snapshots, rows, and who gets them."""
