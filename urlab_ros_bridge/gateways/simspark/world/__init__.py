# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated world of a game: poses of everything, and means to move it."""
