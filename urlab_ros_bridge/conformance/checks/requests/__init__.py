# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Requests and replies: encoding, errors, sessions, and the contents of a hello."""
