# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
From the numbers of a simulator to ROS messages.

What is published in each tick is a template (`RosMessageTemplate`), which rewrites the bytes of a
serialised message; what is published rarely is an ordinary object from a function ``x_to_ros``.
Frames, units and signs are in docs/bridge.md.
"""
