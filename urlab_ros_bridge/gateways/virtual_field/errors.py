# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of the Virtual Field gateway; the text of each is the `reason` that a client gets."""

from __future__ import annotations

from urlab_ros_bridge.gateways.errors import GatewayError


class WebXrError(GatewayError):
    """Base of everything that this gateway raises on purpose."""


class BadMessage(WebXrError, ValueError):
    """A message is not what the protocol allows."""


class NoSimulation(WebXrError):
    """No simulation is available."""

    def __init__(self, cause: object = '') -> None:
        more = f' ({cause})' if str(cause) else ''
        super().__init__(f'no simulation is available: send hello again later{more}')


class NoFreeArm(WebXrError):
    """All arms and bases of the requested robots are taken."""


__all__ = ['BadMessage', 'NoFreeArm', 'NoSimulation', 'WebXrError']
