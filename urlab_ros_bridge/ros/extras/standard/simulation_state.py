# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What the simulator can do and is doing: features, world, state, and reset with its scopes."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from urlab_ros_bridge.ros.extras.standard.base import ENTITIES
from urlab_ros_bridge.ros.extras.standard.base import FAILED
from urlab_ros_bridge.ros.extras.standard.base import KEEP_STATE
from urlab_ros_bridge.ros.extras.standard.base import KEEP_TIME
from urlab_ros_bridge.ros.extras.standard.base import SimulationContext
from urlab_ros_bridge.ros.extras.standard.base import SPAWN
from urlab_ros_bridge.ros.extras.standard.base import standard
from urlab_ros_bridge.ros.extras.standard.base import StandardFeature
from urlab_ros_bridge.ros.extras.standard.base import StandardRejected
from urlab_ros_bridge.ros.extras.standard.base import UNSUPPORTED
from urlab_ros_bridge.ros.features.declarations import ServiceGroup
from urlab_ros_bridge.ros.link.link_state import describe
from urlab_ros_bridge.ros.link.link_state import Phase

# simulation_interfaces/srv/GetCurrentWorld.
NO_WORLD_LOADED = 101
FORMATS = ('mjcf', 'urdf')


def get_simulator_features(context: SimulationContext, request: Any, response: Any) -> None:
    """Return the supported features; none while the bridge has no server."""
    features = response.features
    features.features = [int(feature) for feature in context.features]
    features.spawn_formats = list(FORMATS) if StandardFeature.SPAWNING in context.features else []
    state = context.link.state
    if not state.connected:
        features.custom_info = describe(state, context.stream.silence)[1]
        return
    handshake = context.handshake
    features.custom_info = (
        f'urlab_ros_bridge at {state.endpoint}: {handshake.urlab_version}, '
        f'MuJoCo {handshake.mujoco_version}'
    )
    missing = [name for name in (ENTITIES, SPAWN) if not context.has(name)]
    if missing:
        features.custom_info += f'; the server lacks: {", ".join(missing)}'


def get_current_world(context: SimulationContext, request: Any, response: Any) -> None:
    """Return the name of the world, and its contents."""
    if present_state(context) is State.NO_WORLD:
        raise StandardRejected(NO_WORLD_LOADED, 'the server has no world yet')
    handshake = context.handshake
    robots, entities = (
        ', '.join(names) or 'none' for names in (handshake.articulations, handshake.entities)
    )
    response.world.name = handshake.world
    response.world.description = f'robots: {robots}; other movable bodies: {entities}'


# simulation_interfaces/srv/SetSimulationState.
ALREADY_IN_TARGET_STATE = 101
STATE_TRANSITION_ERROR = 102
INCORRECT_TRANSITION = 103

# Modes in which a client moves time.
_STEPPED = ('direct', 'puppet')


class State(IntEnum):
    """Values of simulation_interfaces/msg/SimulationState."""

    STOPPED = 0
    PLAYING = 1
    PAUSED = 2
    QUITTING = 3
    NO_WORLD = 4
    LOADING_WORLD = 5


def present_state(context: SimulationContext) -> State:
    """
    Return what the simulation is doing.

    It is stopped when it is paused and its time is 0: then it was not stepped since its start or
    a reset.  Where another client moves time it is frozen by itself.

    :raises RequestRejected: without a connection.
    """
    link, handshake = context.link, context.link.handshake
    if handshake is not None and link.state.phase is Phase.PREPARING:
        return State.LOADING_WORLD if handshake.manager_present else State.NO_WORLD
    client, timeline = context.urgent_client, context.timeline
    now: int | None
    if link.has('status'):
        status = client.status()
        mode, paused, now = status.mode, status.paused, status.sim_time_ns
    else:
        mode, paused, now = link.state.mode, bool(link.state.paused), timeline.stamp_ns
    if not paused and (mode not in _STEPPED or context.stepping.in_lockstep):
        return State.PLAYING
    return State.PAUSED if now or context.paused_epoch == timeline.epoch else State.STOPPED


def get_simulation_state(context: SimulationContext, request: Any, response: Any) -> None:
    """Return whether the simulation is stopped, playing or paused."""
    response.state.state = present_state(context)


def set_simulation_state(context: SimulationContext, request: Any, response: Any) -> str:
    """Stop (pause and reset everything), play or pause."""
    target, now = _target(request.state.state), present_state(context)
    if now in (State.NO_WORLD, State.LOADING_WORLD):
        raise StandardRejected(
            INCORRECT_TRANSITION, f'the state is {now.name}: there is no world yet'
        )
    if target is now:
        raise StandardRejected(ALREADY_IN_TARGET_STATE, f'the state is already {now.name}')
    context.paused_epoch = None
    if target is State.PLAYING:
        _check_mode(context)
    _pause(context, target is not State.PLAYING)
    if target is State.STOPPED:
        reset_all(context)
    elif target is State.PAUSED:
        context.paused_epoch = context.timeline.epoch
    return f'{now.name} -> {target.name}'


def _group_of_state(request: Any) -> ServiceGroup:
    """Let only STOPPED, which resets the world, wait for other requests that change it."""
    stops = request.state.state == State.STOPPED
    return ServiceGroup.WORLD if stops else ServiceGroup.URGENT


def _target(value: int) -> State:
    """Return the requested state."""
    if value == State.QUITTING:
        raise StandardRejected(UNSUPPORTED, 'QUITTING: stop the server where it was started')
    if value not in (State.STOPPED, State.PLAYING, State.PAUSED):
        raise StandardRejected(
            INCORRECT_TRANSITION, f'state is {value}, must be STOPPED 0, PLAYING 1 or PAUSED 2'
        )
    return State(value)


def _check_mode(context: SimulationContext) -> None:
    mode = context.mode
    if mode in _STEPPED and not context.stepping.in_lockstep:
        raise StandardRejected(
            STATE_TRANSITION_ERROR,
            f'the server is in {mode} mode, in which another client advances time; to run in real '
            'time call set_mode with mode: live',
        )


def _pause(context: SimulationContext, paused: bool) -> None:
    with context.stepping.between_rounds():
        is_paused = context.urgent_client.set_paused(paused)
        context.link.record_paused(is_paused)
    if is_paused is not paused:
        wanted = 'paused' if paused else 'running'
        raise StandardRejected(
            STATE_TRANSITION_ERROR, f'the server reports that it is not {wanted}'
        )


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
    standard(get_simulator_features, group=ServiceGroup.INDEPENDENT),
    standard(get_current_world, {StandardFeature.WORLD_INFO_GETTING: ''}, ops=('status',)),
    standard(
        get_simulation_state,
        {StandardFeature.SIMULATION_STATE_GETTING: ''},
        ops=('status',),
        group=ServiceGroup.INDEPENDENT,
    ),
    standard(
        set_simulation_state,
        {StandardFeature.SIMULATION_STATE_SETTING: '', StandardFeature.SIMULATION_STATE_PAUSE: ''},
        ops=('status', 'set_paused', 'reset', 'get_entities', 'delete_entity'),
        group=_group_of_state,
    ),
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
