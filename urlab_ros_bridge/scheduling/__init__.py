# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""How threads share the processors: when one spins rather than sleeps, how soon it is woken."""
