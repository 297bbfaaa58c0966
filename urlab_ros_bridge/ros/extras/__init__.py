# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Blocks that the core of the bridge does not know: the list of features may omit each."""
