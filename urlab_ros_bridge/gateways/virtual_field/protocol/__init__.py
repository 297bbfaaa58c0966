# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Messages of the Python-WebXR protocol, version 1: pure functions, no sockets."""

__all__: list[str] = []
