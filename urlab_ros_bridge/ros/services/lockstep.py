# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The service lockstep."""

from __future__ import annotations

import math
from typing import Any

from urlab_ros_bridge.ros.lockstep.rules import Ended
from urlab_ros_bridge.ros.services.base import BAD_VALUE
from urlab_ros_bridge.ros.services.base import Context
from urlab_ros_bridge.ros.services.base import Service
from urlab_ros_bridge.ros.services.base import Unfit


def lockstep(context: Context, request: Any, response: Any) -> str:
    """Step in lockstep with the nodes that publish some topics, or end that."""
    if not request.enabled:
        was_on = context.lockstep.end()
        return (
            f'lockstep is off, the mode is {context.link.state.mode}' if was_on else 'it was off'
        )
    for name in ('period', 'timeout'):
        value = getattr(request, name)
        if not math.isfinite(value) or value < 0:
            raise Unfit(BAD_VALUE, f'{name} is {value}, must be 0 or more')
    _ = context.client  # without a server the answer says what to do about it
    try:
        terms = context.lockstep.begin(tuple(request.topics), request.period, request.timeout)
    except (Ended, ValueError) as error:
        raise Unfit(BAD_VALUE, str(error)) from error
    return f'every {terms.period:g} s the simulation waits for {", ".join(terms.topics)}'


SERVICES = (Service('lockstep', 'urlab_msgs/srv/SetLockstep', lockstep, ('set_mode', 'step')),)
