# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Building blocks of features: declarations, parts, the bridge, and topics fed from ticks."""
