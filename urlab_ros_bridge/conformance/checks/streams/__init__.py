# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What a server streams: rows, snapshots, images, shared memory, control and info."""
