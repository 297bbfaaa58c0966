# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of the SimSpark gateway."""

from __future__ import annotations

from urlab_ros_bridge.gateways.errors import GatewayError


class SimSparkError(GatewayError):
    """Base of what this gateway raises on purpose."""


class OpenToAll(SimSparkError):
    """A gateway would let the whole network in; its protocol has no password."""

    def __init__(self, bind: str) -> None:
        super().__init__(
            f'--bind {bind} lets any machine on the network command players and the game, as the '
            'protocol has no password: give --insecure to accept any client, or bind 127.0.0.1 '
            'and forward the ports through ssh'
        )


class MessageTooLong(SimSparkError, ValueError):
    """The length in front of a message is beyond the limit; nothing was allocated for it."""

    def __init__(self, length: int, limit: int) -> None:
        super().__init__(f'a message of {length} bytes; at most {limit} are accepted')


class MalformedExpression(SimSparkError, ValueError):
    """The text of a message is not a sequence of S-expressions."""


class UnwritableValue(SimSparkError, ValueError):
    """A value has no form in a message: a number that is not finite, an atom with a quote."""

    def __init__(self, value: object, reason: str) -> None:
        super().__init__(f'{value!r} cannot be written: {reason}')


class BadCommand(SimSparkError, ValueError):
    """A command cannot be carried out; it changes nothing.  The message gives the reason."""


class OutOfRange(BadCommand):
    """A number of a command is beyond its limits."""

    def __init__(self, name: str, value: float, low: float, high: float) -> None:
        super().__init__(f'{name} must be {low:g} to {high:g}, not {value:g}')


__all__ = [
    'BadCommand', 'MalformedExpression', 'MessageTooLong', 'OpenToAll', 'OutOfRange',
    'SimSparkError', 'UnwritableValue',
]  # fmt: skip
