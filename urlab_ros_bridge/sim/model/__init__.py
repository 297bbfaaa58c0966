# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The world as a compiled model: assembled from files, with the owners of its parts."""
