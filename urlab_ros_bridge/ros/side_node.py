# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes beside the bridge's own, for what needs another executor: services and actions."""

from __future__ import annotations

from rclpy.node import Node
from rclpy.parameter import Parameter


def make_side_node(bridge: Node, purpose: str) -> Node:
    """
    Return a node named after the bridge, in its namespace; remapped topics hold for it too.

    A remapped node name (``-r __node:=sim``) has gone into the name of the bridge, and would give
    this node the same one: so it has a rule of its own, which comes first.
    """
    name = f'{bridge.get_name()}_{purpose}'
    return Node(
        name,
        context=bridge.context,
        namespace=bridge.get_namespace(),
        cli_args=['--ros-args', '-r', f'__node:={name}'],
        enable_rosout=False,
        # /clock is ours, whatever a parameter file says for all nodes.
        parameter_overrides=[Parameter('use_sim_time', value=False)],
    )
