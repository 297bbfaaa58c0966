# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Raw frames and regions: what a check sends and receives, without the client of this package."""
