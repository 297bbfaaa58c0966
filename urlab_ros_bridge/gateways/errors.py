# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of all gateways."""

from __future__ import annotations

from urlab_ros_bridge.wire.errors import UrlabError

# Code and reason of a close when the simulation has ended (RFC 6455, section 7.4.1).
TRY_AGAIN = 1013
GONE = 'the simulation has gone: reconnect when it is back'


class GatewayError(UrlabError):
    """Base of what gateways raise on purpose."""


class RobotError(GatewayError):
    """The simulation cannot do what the gateway needs; the message says what is missing."""


class PortTaken(GatewayError):
    """The port cannot be bound."""

    def __init__(self, address: str, port: int, cause: OSError, advice: str) -> None:
        super().__init__(
            f'cannot bind port {port} on {address} ({cause.strerror}): stop the program that uses '
            f'it, or choose another port with {advice}'
        )


__all__ = ['GONE', 'TRY_AGAIN', 'GatewayError', 'PortTaken', 'RobotError']
