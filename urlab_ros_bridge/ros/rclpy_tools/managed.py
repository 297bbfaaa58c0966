# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A managed node that answers every request for a transition."""

from __future__ import annotations

from typing import Any

from rclpy.lifecycle import LifecycleNode


class ManagedNode(LifecycleNode):
    """
    A lifecycle node.

    A transition that the present state does not allow is answered without success.  In rclpy it
    raises in the executor, and its client waits forever.
    """

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, **options)
        service = getattr(self, '_service_change_state', None)
        if service is None:  # it is private to rclpy, and may have another name one day
            return
        change = service.callback

        def answer(request: Any, response: Any) -> Any:
            try:
                return change(request, response)
            except RuntimeError:
                self.get_logger().error(self._refusal(request.transition))
                response.success = False
                return response

        service.callback = answer

    def _refusal(self, transition: Any) -> str:
        machine = self._state_machine
        allowed = ', '.join(f'{each[1]} ({each[0]})' for each in machine.available_transitions)
        wanted = transition.label or f'transition {transition.id}'
        state = machine.current_state[1]
        return f'{wanted} is not possible in the state {state}; possible: {allowed}'
