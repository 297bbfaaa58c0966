# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Domain randomisation: seeded, reported, undoable changes of the compiled model."""
