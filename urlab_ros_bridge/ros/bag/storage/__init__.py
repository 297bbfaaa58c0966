# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What a bag is on disk: folder, files, index, topics and message definitions."""
