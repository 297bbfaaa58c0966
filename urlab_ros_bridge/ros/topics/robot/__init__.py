# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Topics of one robot, made from the ticks of the state stream."""
