# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""step_simulation: so many steps of a paused simulation."""

from __future__ import annotations

from typing import Any

from urlab_ros_bridge.ros.services.standard.base import SimulationContext
from urlab_ros_bridge.ros.services.standard.base import standard
from urlab_ros_bridge.ros.services.standard.features import Feature
from urlab_ros_bridge.ros.services.standard.results import FAILED
from urlab_ros_bridge.ros.services.standard.results import INCORRECT_STATE
from urlab_ros_bridge.ros.services.standard.results import Refusal
from urlab_ros_bridge.ros.services.standard.state import present_state
from urlab_ros_bridge.ros.services.standard.state import State
from urlab_ros_bridge.ros.services.stepping import stepping


def check_steps(context: SimulationContext, steps: int) -> None:
    """
    Tell whether so many steps can be made now.

    :raises Refusal: when not.
    """
    if not steps:
        raise Refusal(FAILED, 'steps is 0, must be 1 or more')
    state = present_state(context)
    if state is State.PLAYING:
        raise Refusal(FAILED, 'the simulation is playing; pause it first (set_simulation_state)')
    if state not in (State.PAUSED, State.STOPPED):
        raise Refusal(INCORRECT_STATE, f'the state is {state.name}: there is no world yet')


def step_simulation(context: SimulationContext, request: Any, response: Any) -> str:
    """Advance a paused simulation by steps; answers when they are done."""
    check_steps(context, request.steps)
    bridge = context.bridge
    mark = bridge.stream.timeline.mark()
    with stepping(bridge) as stepper:
        result = stepper.advance(request.steps)
    bridge.catch_up(result.sim_time_ns, mark)
    return f'now at {result.time:.6g} s'


ENTRIES = (
    standard(
        'step_simulation',
        step_simulation,
        {Feature.STEP_SIMULATION_SINGLE: '', Feature.STEP_SIMULATION_MULTIPLE: ''},
        ops=('status', 'set_paused', 'step'),
    ),
)
