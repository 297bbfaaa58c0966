# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The Virtual Field protocol for browsers and headsets, and a page of our own on it."""
