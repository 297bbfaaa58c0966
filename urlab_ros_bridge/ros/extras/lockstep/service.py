# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The service lockstep."""

from __future__ import annotations

import math
from typing import Any

from urlab_ros_bridge.ros.extras.lockstep.lockstep import Lockstep
from urlab_ros_bridge.ros.extras.lockstep.rules import LockstepEnded
from urlab_ros_bridge.ros.extras.lockstep.rules import LockstepParameters
from urlab_ros_bridge.ros.features.declarations import RequestRejected
from urlab_ros_bridge.ros.features.declarations import Service
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.services.base import BAD_VALUE
from urlab_ros_bridge.ros.services.context import ServiceContext


def lockstep(context: ServiceContext, request: Any, response: Any) -> str:
    """Start lockstep with the nodes that publish the given topics, or end it."""
    if not request.enabled:
        if not context.part(Lockstep).end():
            return 'lockstep was already off; start it with enabled: true'
        return f'lockstep is off, the mode is {context.link.state.mode}'
    for name in ('period', 'timeout'):
        value = getattr(request, name)
        if not math.isfinite(value) or value < 0:
            raise RequestRejected(BAD_VALUE, f'{name} is {value}, must be 0 or more')
    context.require_connection()
    try:
        terms = context.part(Lockstep).begin(
            tuple(request.topics), request.period, request.timeout
        )
    except (LockstepEnded, ValueError) as error:
        raise RequestRejected(BAD_VALUE, str(error)) from error
    return f'every {terms.period:g} s the simulation waits for {", ".join(terms.topics)}'


SERVICES = (Service('lockstep', 'urlab_msgs/srv/SetLockstep', lockstep, ('set_mode', 'step')),)


FEATURE = Feature(
    'lockstep', LockstepParameters, group='Lockstep', services=SERVICES, attach=Lockstep
)
