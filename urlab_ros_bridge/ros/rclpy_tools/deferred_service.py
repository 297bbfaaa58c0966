# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Services that are answered later, from another thread than the executor's.

A callback that waits blocks its executor, and the events executor takes no coroutines.  So the
callback returns at once, and `Service.send_response`, which executors call with whatever the
callback has returned, sends the response later.
"""

from __future__ import annotations

from collections.abc import Callable
import contextlib
from dataclasses import dataclass
from typing import Any

from rclpy.exceptions import InvalidHandle
from rclpy.node import Node

Reply = Callable[[Any], None]


@dataclass(frozen=True)
class _Request:
    """A request, and its response to fill in."""

    request: Any
    response: Any


def create_deferred_service(
    node: Node, service_type: type, name: str, take: Callable[[Any, Any, Reply], None]
) -> None:
    """
    Offer a service.

    :param take: called in the executor with a request, its response to fill in, and a function
        that sends the response and may be called in any thread; must not wait.
    """
    service = node.create_service(service_type, name, _Request)
    send = service.send_response

    def send_later(pending: _Request, header: Any) -> None:
        def reply(response: Any) -> None:
            with contextlib.suppress(InvalidHandle):  # the node has been destroyed
                send(response, header)

        take(pending.request, pending.response, reply)

    vars(service)['send_response'] = send_later
