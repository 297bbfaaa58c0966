# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What the server streams: rows and snapshots, built only for subscribers."""
