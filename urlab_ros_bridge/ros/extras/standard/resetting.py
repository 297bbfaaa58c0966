# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""reset_simulation: time, state, and entities that were spawned."""

from __future__ import annotations

from typing import Any

from urlab_ros_bridge.ros.extras.standard.base import KEEP_STATE
from urlab_ros_bridge.ros.extras.standard.base import KEEP_TIME
from urlab_ros_bridge.ros.extras.standard.base import SimulationContext
from urlab_ros_bridge.ros.extras.standard.base import SPAWN
from urlab_ros_bridge.ros.extras.standard.base import standard
from urlab_ros_bridge.ros.extras.standard.base import StandardFeature
from urlab_ros_bridge.ros.extras.standard.results import FAILED
from urlab_ros_bridge.ros.extras.standard.results import StandardRejected

# simulation_interfaces/srv/ResetSimulation; 0 means all.
TIME = 1
STATE = 2
SPAWNED = 4
ALL = 255


def reset_simulation(context: SimulationContext, request: Any, response: Any) -> str:
    """Reset everything (scope 0 or 255), or only time (1), state (2) or spawned entities (4)."""
    scope = request.scope or ALL
    if scope == ALL:
        reset_all(context)
        return 'everything is reset to the start'
    if scope & ~(TIME | STATE | SPAWNED):
        raise StandardRejected(
            FAILED, f'scope is {scope}, must be 0, {ALL}, or a sum of {TIME}, {STATE}, {SPAWNED}'
        )
    done = []
    time, state = bool(scope & TIME), bool(scope & STATE)
    # Everything that is requested must be possible before anything is done.
    if time and not state:
        context.require(StandardFeature.SIMULATION_RESET_TIME, 'reset of time alone')
    if state and not time:
        context.require(StandardFeature.SIMULATION_RESET_STATE, 'reset of state alone')
    if scope & SPAWNED:
        context.require(StandardFeature.SIMULATION_RESET_SPAWNED, 'reset of spawned entities')
        done.append(f'{delete_spawned(context)} spawned entities deleted')
    if time or state:
        rewind(context, time, state)
        done.append(' and '.join(['time'] * time + ['state'] * state) + ' reset to the start')
    return ', '.join(done)


def reset_all(context: SimulationContext) -> None:
    """Remove what was spawned where that is possible, and rewind."""
    if context.has(SPAWN):
        delete_spawned(context)
    rewind(context, time=True, state=True)


def delete_spawned(context: SimulationContext) -> int:
    """Delete every entity that was spawned; return how many."""
    client = context.client
    names = [name for name, entity in client.get_entities().items() if entity.spawned]
    with context.stepping.between_rounds():
        for name in names:
            client.delete_entity(name)
        if names:
            context.wait_for_world()
    return len(names)


def rewind(context: SimulationContext, time: bool, state: bool) -> None:
    """Reset time, state or both, and wait until the stream shows it."""
    with context.stepping.between_rounds():
        mark = context.timeline.mark()
        result = context.commands.forget_after(
            lambda: context.client.reset(keep_time=state and not time, keep_state=not state)
        )
        if not time:
            context.reset_counts.add()
        context.catch_up(result.sim_time_ns, mark)


ENTRIES = (
    standard(
        reset_simulation,
        {
            StandardFeature.SIMULATION_RESET: '',
            StandardFeature.SIMULATION_RESET_TIME: KEEP_STATE,
            StandardFeature.SIMULATION_RESET_STATE: KEEP_TIME,
            StandardFeature.SIMULATION_RESET_SPAWNED: SPAWN,
        },
        ops=('reset', 'get_entities', 'delete_entity'),
    ),
)
