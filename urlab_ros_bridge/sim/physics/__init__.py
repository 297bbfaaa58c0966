# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Physics: the engine, what acts on the model, and what is measured and recorded."""
