# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Messages to monitors: the environment, the game, and the scene graph with its changes."""
