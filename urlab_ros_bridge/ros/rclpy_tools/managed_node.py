# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Lifecycle nodes that survive a request for a transition that does not fit their state."""

from __future__ import annotations

from typing import Any

from lifecycle_msgs.srv import ChangeState
from rclpy._rclpy_pybind11 import RCLError
from rclpy.lifecycle import LifecycleNode


class ManagedNode(LifecycleNode):
    """A lifecycle node."""

    def _LifecycleNodeMixin__on_change_state(  # noqa: N802  (the name that rclpy calls)
        self, request: ChangeState.Request, response: ChangeState.Response
    ) -> ChangeState.Response:
        """Answer a transition that does not fit the state; rclpy itself would end the process."""
        above: Any = super()
        try:
            return above._LifecycleNodeMixin__on_change_state(request, response)
        except RCLError as error:
            self.get_logger().warning(f'transition refused: {error}')
            response.success = False
            return response


__all__ = ['ManagedNode']
