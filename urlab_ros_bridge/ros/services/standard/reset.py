# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""reset_simulation: time, state and spawned entities, each by itself or together."""

from __future__ import annotations

from typing import Any

from urlab_ros_bridge.ros.services.standard.base import SimulationContext
from urlab_ros_bridge.ros.services.standard.base import standard
from urlab_ros_bridge.ros.services.standard.features import Feature
from urlab_ros_bridge.ros.services.standard.features import KEEP_STATE
from urlab_ros_bridge.ros.services.standard.features import KEEP_TIME
from urlab_ros_bridge.ros.services.standard.features import SPAWN
from urlab_ros_bridge.ros.services.standard.results import FAILED
from urlab_ros_bridge.ros.services.standard.results import Refusal

# simulation_interfaces/srv/ResetSimulation; 0 means all.
TIME = 1
STATE = 2
SPAWNED = 4
ALL = 255


def reset_simulation(context: SimulationContext, request: Any, response: Any) -> str:
    """Reset everything (scope 0 or 255), or time 1, state 2 and spawned entities 4 alone."""
    scope = request.scope or ALL
    if scope == ALL:
        reset_all(context)
        return 'everything is as at the start'
    if scope & ~(TIME | STATE | SPAWNED):
        raise Refusal(
            FAILED, f'scope is {scope}, must be 0, {ALL}, or a sum of {TIME}, {STATE}, {SPAWNED}'
        )
    done = []
    time, state = bool(scope & TIME), bool(scope & STATE)
    # All that is asked for must be possible before anything is done.
    if time and not state:
        context.require(Feature.SIMULATION_RESET_TIME, 'reset of time alone')
    if state and not time:
        context.require(Feature.SIMULATION_RESET_STATE, 'reset of state alone')
    if scope & SPAWNED:
        context.require(Feature.SIMULATION_RESET_SPAWNED, 'reset of spawned entities')
        done.append(f'{delete_spawned(context)} spawned entities are gone')
    if time or state:
        rewind(context, time, state)
        done.append(' and '.join(['time'] * time + ['state'] * state) + ' as at the start')
    return ', '.join(done)


def reset_all(context: SimulationContext) -> None:
    """Remove what was spawned where that is possible, and rewind."""
    if context.has(SPAWN):
        delete_spawned(context)
    rewind(context, time=True, state=True)


def delete_spawned(context: SimulationContext) -> int:
    """Delete every entity that was spawned; return how many."""
    client = context.bridge.client
    names = [name for name, entity in client.get_entities().items() if entity.spawned]
    with context.bridge.lockstep.between_rounds():
        for name in names:
            client.delete_entity(name)
        if names:
            context.wait_for_world()
    return len(names)


def rewind(context: SimulationContext, time: bool, state: bool) -> None:
    """Reset time, state or both, and wait until the stream shows it."""
    bridge = context.bridge
    with bridge.lockstep.between_rounds():
        mark = bridge.stream.timeline.mark()
        if state:
            result = bridge.client.reset(keep_time=not time)
        else:
            result = bridge.client.reset(keep_state=True)
        bridge.commands.jump()
        bridge.catch_up(result.sim_time_ns, mark)


ENTRIES = (
    standard(
        'reset_simulation',
        reset_simulation,
        {
            Feature.SIMULATION_RESET: '',
            Feature.SIMULATION_RESET_TIME: KEEP_STATE,
            Feature.SIMULATION_RESET_STATE: KEEP_TIME,
            Feature.SIMULATION_RESET_SPAWNED: SPAWN,
        },
        ops=('reset', 'get_entities', 'delete_entity'),
    ),
)
