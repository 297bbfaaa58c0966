# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Markers for RViz and Foxglove: scene, entities and contacts.

All are visualization_msgs/MarkerArray below ``markers/``, in one frame with the world's origin.
"""
