# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The cameras of a world: what each shows, how large, how often, and how."""
