# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Camera streams of a server: frames over ZMQ and through shared memory."""
