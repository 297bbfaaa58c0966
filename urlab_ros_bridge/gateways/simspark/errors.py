# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of the SimSpark gateway."""

from __future__ import annotations

from urlab_ros_bridge.gateways.common.errors import GatewayError


class SimSparkError(GatewayError):
    """Base of what this gateway raises on purpose."""


class MessageTooLong(SimSparkError, ValueError):
    """The length in front of a message is beyond the limit; nothing was allocated for it."""

    def __init__(self, length: int, limit: int) -> None:
        super().__init__(f'a message of {length} bytes; at most {limit} are taken')


class MalformedExpression(SimSparkError, ValueError):
    """The text of a message is not a sequence of S-expressions."""


class UnwritableValue(SimSparkError, ValueError):
    """A value has no form in a message: a number that is not finite, an atom with a quote."""

    def __init__(self, value: object, reason: str) -> None:
        super().__init__(f'{value!r} cannot be written: {reason}')


class BadCommand(SimSparkError, ValueError):
    """A command cannot be carried out; it changes nothing.  The message says why."""


__all__ = [
    'BadCommand', 'MalformedExpression', 'MessageTooLong', 'SimSparkError', 'UnwritableValue',
]  # fmt: skip
