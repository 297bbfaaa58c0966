# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The editor: levels, actors, play, drawings and the viewport (docs/client.md)."""
