# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of all gateways."""

from __future__ import annotations

from urlab_ros_bridge.wire.errors import UrlabError


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


__all__ = ['GatewayError', 'PortTaken', 'RobotError']
