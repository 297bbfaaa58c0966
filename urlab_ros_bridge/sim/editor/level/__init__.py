# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Levels: worlds that can be edited, and the actors in them."""
