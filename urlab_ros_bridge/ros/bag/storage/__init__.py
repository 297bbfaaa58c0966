# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Bags on disk: folder, files, metadata.yaml, topics and message definitions."""
