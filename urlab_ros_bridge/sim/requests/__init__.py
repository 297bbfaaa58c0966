# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What every request needs: sessions, typed fields, paths, the registry of ops."""
