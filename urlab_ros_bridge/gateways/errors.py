# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of all gateways."""

from __future__ import annotations

from urlab_ros_bridge.wire.errors import UrlabError


class GatewayError(UrlabError):
    """Base of what gateways raise on purpose."""


class RobotError(GatewayError):
    """The simulation cannot do what the gateway needs; the message says what is missing."""


__all__ = ['GatewayError', 'RobotError']
