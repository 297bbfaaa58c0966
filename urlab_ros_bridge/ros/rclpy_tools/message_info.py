# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Subscriptions whose callback also gets the time and the sender of a message."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
import inspect
from typing import Any

# What rclpy knows of a message: source_timestamp (ns, wall clock of the sender, 0: not known), and
# from Kilted on publisher_gid.
MessageInfo = Mapping[str, Any]


class WithMessageInfo:
    """
    A callback for a subscription that takes a message and its info.

    rclpy looks at the signature to see whether a callback wants the info.  The events executor
    (Jazzy to Lyrical) then passes one tuple where all other executors pass two arguments.
    """

    __signature__ = inspect.Signature(
        [
            inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY)
            for name in ('message', 'info')
        ]
    )

    def __init__(self, receive: Callable[[Any, MessageInfo], None]) -> None:
        """
        Wrap a function.

        :param receive: called with the message and its info.
        """
        self._receive = receive

    def __call__(self, *arguments: Any) -> None:
        """Take a message and its info, as one tuple or as two arguments."""
        message, info = arguments[0] if len(arguments) == 1 else arguments
        self._receive(message, info)


def message_in(arguments: tuple[Any, ...]) -> Any:
    """Return the message among the arguments of a callback, with or without info."""
    return arguments[0][0] if isinstance(arguments[0], tuple) else arguments[0]
