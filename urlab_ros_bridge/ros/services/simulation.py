# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Services that move time and robots: reset, step, pause, set_mode, set_speed, set_twist."""

from __future__ import annotations

import contextlib
from functools import partial
import json
import math
from typing import Any

from geometry_msgs.msg import Vector3

from urlab_ros_bridge.ros.features.declarations import RequestRejected
from urlab_ros_bridge.ros.features.declarations import Service
from urlab_ros_bridge.ros.features.declarations import ServiceGroup
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.services.base import BAD_VALUE
from urlab_ros_bridge.ros.services.base import E_STOP
from urlab_ros_bridge.ros.services.base import fill_time_and_wait
from urlab_ros_bridge.ros.services.context import ServiceContext
from urlab_ros_bridge.ros.services.stepping import stepping
from urlab_ros_bridge.wire.errors import count_of
from urlab_ros_bridge.wire.names import known_name


def reset(context: ServiceContext, request: Any, response: Any) -> str:
    """Reset the simulation to a known state."""
    overrides: dict[str, dict[str, float]] = {}
    for item in request.per_articulation_qpos:
        if not math.isfinite(item.position):
            raise RequestRejected(
                BAD_VALUE, f'position of joint {item.joint!r} is {item.position}'
            )
        robot = context.robot(item.articulation or _owner(context, item.joint))
        known = (*robot.joints, robot.base_joint)
        if known_name(item.joint, robot.prefix, known) not in known:
            raise RequestRejected(
                BAD_VALUE,
                f'{robot.prefix} has no joint {item.joint!r}; '
                f'available: {", ".join(robot.joints)}',
            )
        overrides.setdefault(robot.prefix, {})[item.joint] = item.position
    # A server without that extension has but one kind of reset.
    keeps_time = not request.time and context.link.has('keep_time')
    alone = _robot_to_reset(context, request)
    with context.stepping.between_rounds(), _noted(context, request, keeps_time):
        mark = context.timeline.mark()
        result = context.commands.forget_after(
            partial(
                context.client.reset,
                request.keyframe_name or None,
                request.seed or None,
                overrides or None,
                keeps_time,
                articulation=alone or None,
            ),
            alone,
        )
        if keeps_time:
            context.reset_counts.add(alone)
        fill_time_and_wait(context, response, result.sim_time_ns, result.step, mark)
    what = f'{alone or "the world"} is in {request.keyframe_name or "the initial state"}'
    text = f'{what}, at {result.time:.6g} s'
    if not request.time and not keeps_time:
        text += '; time was set back: this server cannot keep it'
    return text


def _noted(
    context: ServiceContext, request: Any, keeps_time: bool
) -> contextlib.AbstractContextManager[None]:
    """Let others, such as a bag, note the reset that the block makes."""
    positions = [
        [item.articulation, item.joint, item.position] for item in request.per_articulation_qpos
    ]
    texts = {
        'cause': 'reset',
        'keyframe': request.keyframe_name,
        'seed': str(request.seed),
        'positions': json.dumps(positions),
    }
    return context.reset_counts.noted(texts, keeps_time)


def _robot_to_reset(context: ServiceContext, request: Any) -> str:
    """
    Return the prefix of the robot that is reset alone, empty for the whole world.

    :raises RequestRejected: for a robot where time is to go back, and for a local name that
        several robots have.
    """
    prefixes = [] if context.link.handshake is None else list(context.link.handshake.articulations)
    if request.articulation:
        prefix = context.robot(request.articulation).prefix
        if request.time:
            raise RequestRejected(
                BAD_VALUE, f'time is true, but {prefix} is reset alone: time is that of all'
            )
        if len(prefixes) > 1:
            return prefix
    if request.time or not request.keyframe_name or len(prefixes) < 2:
        return ''
    if not context.link.has('reset_robot'):
        return ''
    name = request.keyframe_name
    names = [each.name for each in context.client.list_keyframes()]
    if name in names:
        return max((p for p in prefixes if name.startswith(f'{p}_')), key=len, default='')
    owners = [prefix for prefix in prefixes if f'{prefix}_{name}' in names]
    if len(owners) > 1:
        full = ', '.join(f'{prefix}_{name}' for prefix in owners)
        raise RequestRejected(BAD_VALUE, f'several robots have a keyframe {name!r}: {full}')
    return owners[0] if owners else ''


def _owner(context: ServiceContext, joint: str) -> str:
    """Return the prefix of the robot that has a joint; empty when none or several have it."""
    owners = [robot.prefix for robot in context.plan.robots if joint in robot.joints]
    return owners[0] if len(owners) == 1 else ''


def step(context: ServiceContext, request: Any, response: Any) -> str:
    """Advance by steps; a server in live mode is paused, and stays paused."""
    count = request.n_steps or 1
    mark = context.timeline.mark()
    with stepping(context, count) as stepper:
        result = stepper.advance(count)
        fill_time_and_wait(context, response, result.sim_time_ns, result.step, mark)
    how = '' if stepper.mode == 'direct' else ', paused: to resume call pause with data: false'
    return f'{count_of(count, "step")}, now at {result.time:.6g} s{how}'


def pause(context: ServiceContext, request: Any, response: Any) -> str:
    """Pause simulation time (data: true), or resume it (data: false)."""
    mark = context.timeline.mark()
    with context.stepping.between_rounds():
        paused = context.urgent_client.set_paused(request.data)
        context.link.record_paused(paused)
    if not paused and mark.stamp_ns is None:
        return 'running, but no state has arrived yet'
    return 'paused' if paused else 'running'


def set_mode(context: ServiceContext, request: Any, response: Any) -> str:
    """Set the step mode; an empty mode returns the current one."""
    client, link = context.client, context.link
    if request.mode:
        context.stepping.end_lockstep('set_mode was called')
        change = client.set_mode(request.mode)
        response.previous_mode, response.current_mode = change.previous, change.current
    else:
        response.previous_mode = response.current_mode = context.mode
    link.record_mode(response.current_mode)
    return f'mode is {response.current_mode or "unknown"}'


def set_speed(context: ServiceContext, request: Any, response: Any) -> str:
    """Set the speed of live mode in percent of real time; 0 means 100."""
    if not math.isfinite(request.percent):
        raise RequestRejected(BAD_VALUE, f'percent is {request.percent}, must be finite')
    wanted = request.percent or 100.0
    response.percent = context.client.set_sim_speed(wanted)
    text = f'{response.percent:g} % of real time'
    if not math.isclose(response.percent, wanted, rel_tol=1e-4):
        text += f': the server does not take {wanted:g} %'
    return text


def set_twist(context: ServiceContext, request: Any, response: Any) -> str:
    """Drive a robot; an empty request stops the only one."""
    linear, angular = ((part.x, part.y, part.z) for part in (request.linear, request.angular))
    numbers = (*linear, *angular, request.timeout)
    if not all(map(math.isfinite, numbers)) or request.timeout < 0:
        raise RequestRejected(
            BAD_VALUE,
            f'twist {[linear, angular]} with timeout {request.timeout} s: all numbers '
            'must be finite, and the timeout 0 or more',
        )
    robot = context.robot(request.articulation)
    if context.e_stop.engaged and any(numbers[:6]):
        raise RequestRejected(E_STOP, 'the e-stop is engaged')
    if request.timeout and not context.link.has('twist_timeout'):
        raise RequestRejected(BAD_VALUE, 'this server does not support a timeout of a twist')
    twist = context.client.set_twist(
        robot.prefix, linear, angular, timeout=request.timeout or None
    )
    response.articulation = robot.prefix
    response.linear, response.angular = (
        Vector3(x=x, y=y, z=z) for x, y, z in (twist.linear, twist.angular)
    )
    return f'{robot.prefix} is driving' if any(numbers[:6]) else f'{robot.prefix} is stopping'


SERVICES = (
    Service('reset', 'urlab_msgs/srv/Reset', reset, ('reset', 'list_keyframes')),
    Service('step', 'urlab_msgs/srv/Step', step, ('status', 'set_paused', 'step')),
    Service(
        'pause',
        'std_srvs/srv/SetBool',
        pause,
        ('set_paused',),
        group=ServiceGroup.URGENT,
    ),
    Service('set_mode', 'urlab_msgs/srv/SetMode', set_mode, ('set_mode', 'status')),
    Service('set_speed', 'urlab_msgs/srv/SetSpeed', set_speed, ('set_sim_speed',)),
    Service('set_twist', 'urlab_msgs/srv/SetTwist', set_twist),
)

FEATURE = Feature('time and robots', services=SERVICES)
