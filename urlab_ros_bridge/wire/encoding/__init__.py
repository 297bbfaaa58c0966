# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Requests and replies as bytes, msgpack or JSON, and what decoding them may cost."""
