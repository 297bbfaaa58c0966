# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What a feature is made with: its declaration, the bridge, and topics fed from ticks."""
