# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters that were set at the start of a node."""

from __future__ import annotations

from rclpy.node import Node
from rclpy.parameter import Parameter


def given_overrides(node: Node) -> dict[str, Parameter]:
    """Return what the command line, files and arguments set, declared or not."""
    # rclpy has no public list of them: a misspelt parameter could not be reported.
    return dict(getattr(node, '_parameter_overrides', {}))
