# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated world as a game sees it: where everything is, and how to move it."""
