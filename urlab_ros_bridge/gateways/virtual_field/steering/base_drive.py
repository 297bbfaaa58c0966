# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The sticks of the controllers as the velocity of a mobile base."""

from __future__ import annotations

from urlab_ros_bridge.client.replies.handshake import TwistControllerInfo
from urlab_ros_bridge.gateways.motion.target import Twist
from urlab_ros_bridge.gateways.virtual_field.protocol.xr_input import XrInput

DEADBAND = 0.1
# Where the server reports no limits (m/s, rad/s).
_CAREFUL_LINEAR, _CAREFUL_ANGULAR = 0.5, 1.0
STOPPED: Twist = (0.0, 0.0, 0.0)


def read_sticks(sample: XrInput, drive: TwistControllerInfo) -> Twist:
    """
    Return the velocity commanded by the sticks, in the frame of the base: m/s and rad/s.

    The left stick goes forward and sideways, the right one turns; a base that cannot go sideways
    turns with the left one too.  Sticks have y towards the user, so forward is negative.
    """
    left, right = (
        sample.controllers[hand].joystick if hand in sample.controllers else (0.0, 0.0)
        for hand in ('left', 'right')
    )
    linear = drive.limits.get('linear', _CAREFUL_LINEAR)
    lateral = drive.limits.get('lateral', 0.0)
    angular = drive.limits.get('angular', _CAREFUL_ANGULAR)
    forward = -beyond_deadband(left[1]) * linear
    turn = -beyond_deadband(right[0])
    if lateral > 0.0:
        return forward, -beyond_deadband(left[0]) * lateral, turn * angular
    turn = max(-1.0, min(1.0, turn - beyond_deadband(left[0])))
    return forward, 0.0, turn * angular


def beyond_deadband(value: float) -> float:
    """
    Return the deflection of a stick, continuous at the edge of the deadband.

    >>> beyond_deadband(0.05), beyond_deadband(-1.0)
    (0.0, -1.0)
    """
    beyond = max(0.0, abs(value) - DEADBAND) / (1.0 - DEADBAND)
    return beyond if value > 0 else -beyond or 0.0


__all__ = ['DEADBAND', 'STOPPED', 'beyond_deadband', 'read_sticks']
