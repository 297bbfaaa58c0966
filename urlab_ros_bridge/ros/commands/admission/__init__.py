# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which commands are carried out: control, limits, age, and what was refused."""
