# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
All workarounds for gaps in rclpy.

- `overrides`: parameters that are set, but not declared (reads a private attribute);
- `deferred_service`: answers from another thread (replaces a public method of the service);
- `actions`: goals that are ended from another thread (overrides a public method);
- `message_info`: one signature for the ways in which executors pass the info of a message;
- `managed`: a lifecycle node that answers a transition that is not possible (replaces a callback);
- `executor`: `spin_once` that survives errors in callbacks.
"""
