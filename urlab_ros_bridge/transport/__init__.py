# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Both ends of ZeroMQ and of shared memory; the only package that imports zmq."""
