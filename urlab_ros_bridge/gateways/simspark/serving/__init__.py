# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The gateway: the simulation, and the cycle that drives it and serves the ports."""
