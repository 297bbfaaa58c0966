# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Subscriptions whose callback also gets the time and the sender of a message."""

from __future__ import annotations

from collections.abc import Mapping
import inspect
from typing import Any

# What rclpy knows of a message: source_timestamp (ns, wall clock of the sender, 0: not known), and
# from Kilted on publisher_gid.
MessageInfo = Mapping[str, Any]


class TakesMessageInfo:
    """
    Base class of a callback that takes a message and its info, as `arguments`.

    rclpy looks at the signature to see whether a callback wants the info.  The events executor
    (Jazzy to Lyrical) then passes one tuple where all other executors pass two arguments.
    """

    __signature__ = inspect.Signature(
        [
            inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY)
            for name in ('message', 'info')
        ]
    )


def message_and_info(arguments: tuple[Any, ...]) -> tuple[Any, MessageInfo]:
    """Return a message and its info, which come as one tuple or as two arguments."""
    return arguments[0] if len(arguments) == 1 else arguments
