# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What the simulator is doing: get_simulation_state and set_simulation_state."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from urlab_ros_bridge.ros.extras.standard.base import SimulationContext
from urlab_ros_bridge.ros.extras.standard.base import standard
from urlab_ros_bridge.ros.extras.standard.base import StandardFeature
from urlab_ros_bridge.ros.extras.standard.resetting import reset_all
from urlab_ros_bridge.ros.extras.standard.results import StandardRejected
from urlab_ros_bridge.ros.extras.standard.results import UNSUPPORTED
from urlab_ros_bridge.ros.features.declarations import ServiceGroup
from urlab_ros_bridge.ros.link.link_state import Phase

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


ENTRIES = (
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
)
