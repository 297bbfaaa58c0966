# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Between server and renderer: messages, jobs, and the memory that both share."""
