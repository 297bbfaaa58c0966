# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""How the bundled quadrupeds trot: steps and leg kinematics, without a simulator."""
