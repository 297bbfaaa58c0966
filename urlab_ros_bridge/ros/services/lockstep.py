# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The service lockstep."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
import math
from typing import Any

from urlab_ros_bridge.ros.features.declarations import Service
from urlab_ros_bridge.ros.features.feature import Attached
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Status
from urlab_ros_bridge.ros.features.rejection import RequestRejected
from urlab_ros_bridge.ros.lockstep.lockstep import Lockstep
from urlab_ros_bridge.ros.lockstep.rules import LockstepEnded
from urlab_ros_bridge.ros.services.base import BAD_VALUE
from urlab_ros_bridge.ros.services.context import ServiceContext
from urlab_ros_bridge.schema import key


def _topics(value: tuple[str, ...]) -> str:
    empty = value != ('',) and not all(value)
    return 'contains an empty name; [""] alone: off' if empty else ''


@dataclass(frozen=True)
class LockstepParameters:
    """Whether and how the bridge begins in lockstep."""

    lockstep_topics: tuple[str, ...] = key(
        ('',),
        'Start in lockstep with the nodes that publish these topics: the simulation takes a step, '
        'waits for an answer on each topic, and takes the next step. [""]: off until the service '
        'lockstep enables it.',
        check=_topics,
    )
    lockstep_period: float = key(
        0.02,
        'Time between instants (s of simulation time), a multiple of the physics timestep.',
        low=1e-5,
        high=60.0,
    )
    lockstep_timeout: float = key(
        0.0,
        'Continue without an answer after this long (s of wall time), 0: wait forever.',
        low=0.0,
        high=3600.0,
    )


def lockstep(context: ServiceContext, request: Any, response: Any) -> str:
    """Start lockstep with the nodes that publish the given topics, or end it."""
    if not request.enabled:
        if not context.lockstep.end():
            return 'lockstep was already off; start it with enabled: true'
        return f'lockstep is off, the mode is {context.link.state.mode}'
    for name in ('period', 'timeout'):
        value = getattr(request, name)
        if not math.isfinite(value) or value < 0:
            raise RequestRejected(BAD_VALUE, f'{name} is {value}, must be 0 or more')
    _ = context.client  # without a server the response says what to do about it
    try:
        terms = context.lockstep.begin(tuple(request.topics), request.period, request.timeout)
    except (LockstepEnded, ValueError) as error:
        raise RequestRejected(BAD_VALUE, str(error)) from error
    return f'every {terms.period:g} s the simulation waits for {", ".join(terms.topics)}'


SERVICES = (Service('lockstep', 'urlab_msgs/srv/SetLockstep', lockstep, ('set_mode', 'step')),)


def attach(bridge: Bridge) -> Attached:
    """Make the lockstep; with the parameter lockstep_topics it begins at the start."""
    steps = bridge.add(Lockstep(bridge, bridge.settings()))

    def jump(_stamp_ns: int, went_back: bool) -> None:
        if went_back:
            steps.jump()

    def status() -> Iterator[Status]:
        well, text, values = steps.report()
        yield Status('lockstep', text, values, 'ok' if well else 'warning')

    return Attached(start=steps.start, tick=steps.tick, jump=jump, status=status, stop=steps.stop)


FEATURE = Feature(
    'lockstep', LockstepParameters, group='Lockstep', services=SERVICES, attach=attach
)
