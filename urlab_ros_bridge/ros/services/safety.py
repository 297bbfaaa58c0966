# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Services for safety and disturbance: e_stop and apply_wrench."""

from __future__ import annotations

from typing import Any

from urlab_ros_bridge.ros.features.declarations import RequestRejected
from urlab_ros_bridge.ros.features.declarations import Service
from urlab_ros_bridge.ros.features.declarations import ServiceGroup
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.services.base import BAD_VALUE
from urlab_ros_bridge.ros.services.base import E_STOP
from urlab_ros_bridge.ros.services.context import ServiceContext
from urlab_ros_bridge.ros.services.poses import finite


def e_stop(context: ServiceContext, request: Any, response: Any) -> str:
    """Engage (data: true) or release (data: false) the e-stop; also works without a server."""
    text = context.e_stop.set(request.data)
    return text if context.link.state.connected else f'{text}; the bridge is not connected'


def apply_wrench(context: ServiceContext, request: Any, response: Any) -> str:
    """Push a body for a duration of simulation time."""
    client = context.client
    if context.e_stop.engaged:
        raise RequestRejected(E_STOP, 'the e-stop is engaged')
    force, torque = (
        finite(name, (vector.x, vector.y, vector.z))
        for name, vector in (('force', request.wrench.force), ('torque', request.wrench.torque))
    )
    (duration,) = finite('duration', (request.duration,))
    if duration < 0:
        raise RequestRejected(BAD_VALUE, f'duration is {duration}, must be 0 or more')
    prefix = None
    if request.articulation or not request.body:
        prefix = context.robot(request.articulation).prefix
    body = request.body
    if prefix is None:
        # A local name that one robot has will do.
        owners = [robot.prefix for robot in context.plan.robots]
        prefix = owners[0] if len(owners) == 1 else None
    response.body, response.until = client.apply_wrench(
        body,
        force,
        torque,
        duration,
        articulation=prefix,
        frame=request.frame or 'world',
    )
    return f'{response.body} is pushed until {response.until:.6g} s'


SERVICES = (
    Service(
        'e_stop',
        'std_srvs/srv/SetBool',
        e_stop,
        ('e_stop', 'set_twist', 'set_setpoints'),
        group=ServiceGroup.EXECUTOR,
    ),
    Service('apply_wrench', 'urlab_msgs/srv/ApplyWrench', apply_wrench),
)

FEATURE = Feature('e-stop and wrenches', services=SERVICES)
