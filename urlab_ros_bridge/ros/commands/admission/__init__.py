# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which commands are carried out: who is in control, limits, age, and what was refused."""
