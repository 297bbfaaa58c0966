# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""step_simulation and the action simulate_steps: a number of steps of a paused simulation."""

from __future__ import annotations

import threading
from typing import Any

from rclpy.action.server import ServerGoalHandle
from rclpy.node import Node

from urlab_ros_bridge.ros.extras.standard.base import PACKAGE
from urlab_ros_bridge.ros.extras.standard.base import SimulationContext
from urlab_ros_bridge.ros.extras.standard.base import standard
from urlab_ros_bridge.ros.extras.standard.base import StandardFeature
from urlab_ros_bridge.ros.extras.standard.results import FAILED
from urlab_ros_bridge.ros.extras.standard.results import INCORRECT_STATE
from urlab_ros_bridge.ros.extras.standard.results import OK
from urlab_ros_bridge.ros.extras.standard.results import StandardRejected
from urlab_ros_bridge.ros.extras.standard.results import to_result
from urlab_ros_bridge.ros.extras.standard.simulation_state import present_state
from urlab_ros_bridge.ros.extras.standard.simulation_state import State
from urlab_ros_bridge.ros.rclpy_tools.actions import DeferredActionServer
from urlab_ros_bridge.ros.rclpy_tools.actions import Ending
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface
from urlab_ros_bridge.ros.services.stepping import stepping
from urlab_ros_bridge.wire.errors import count_of


def check_steps(context: SimulationContext, steps: int) -> None:
    """
    Check that a number of steps can be made now.

    :raises StandardRejected: when they cannot.
    """
    if not steps:
        raise StandardRejected(FAILED, 'steps is 0, must be 1 or more')
    state = present_state(context)
    if state is State.PLAYING:
        raise StandardRejected(
            FAILED, 'the simulation is playing; pause it first (set_simulation_state)'
        )
    if state not in (State.PAUSED, State.STOPPED):
        raise StandardRejected(
            INCORRECT_STATE, f'the state is {state.name}: there is no world yet'
        )


def step_simulation(context: SimulationContext, request: Any, response: Any) -> str:
    """Advance a paused simulation by steps; responds when they are done."""
    check_steps(context, request.steps)
    mark = context.timeline.mark()
    with stepping(context, request.steps) as stepper:
        result = stepper.advance(request.steps)
        context.catch_up(result.sim_time_ns, mark)
    return f'now at {result.time:.6g} s'


NAME = 'simulate_steps'
TYPE_NAME = f'{PACKAGE}/action/SimulateSteps'


class StepsAction:
    """
    Advance a paused simulation by steps, with feedback after each; can be cancelled.

    Each goal has its own thread, and one goal at a time is carried out.
    Every goal is accepted: only a result can say why it was not carried out.
    """

    def __init__(self, node: Node, context: SimulationContext) -> None:
        """
        Offer the action.

        :raises InterfaceMissing: without simulation_interfaces.
        """
        self._type = load_interface(TYPE_NAME)
        self._context = context
        self._busy = threading.Lock()
        self._stop = threading.Event()
        self._server = DeferredActionServer(
            node,
            self._type,
            NAME,
            accept=lambda goal: True,
            start=self._start,
            cancel=lambda handle: None,
        )

    def stop(self) -> None:
        """End the goal that is under way after its present step."""
        self._stop.set()
        if self._busy.acquire(timeout=1.0):
            self._busy.release()

    def destroy(self) -> None:
        """Withdraw the action; after `stop`, or when it never began."""
        self._server.destroy()

    def _start(self, handle: ServerGoalHandle) -> None:
        threading.Thread(
            target=self._run, args=(handle,), name='simulate_steps', daemon=True
        ).start()

    def _run(self, handle: ServerGoalHandle) -> None:
        result = self._type.Result()
        try:
            if not self._busy.acquire(blocking=False):
                raise StandardRejected(INCORRECT_STATE, 'another goal of simulate_steps is active')
            try:
                ending, text = self._carry_out(handle)
            finally:
                self._busy.release()
            result.result.result = OK
        except Exception as error:
            ending = Ending.ABORTED
            result.result.result, text = to_result(error)
        result.result.error_message = text
        self._server.finish(handle, ending, result)

    def _carry_out(self, handle: ServerGoalHandle) -> tuple[Ending, str]:
        """Make the steps; return how it ended, and why when they were not all made."""
        steps, context = handle.request.steps, self._context
        context.link.wait_while_reading()
        check_steps(context, steps)
        mark = context.timeline.mark()
        done, last = 0, None
        with stepping(context, 1) as stepper:
            while done < steps and not handle.is_cancel_requested:
                if self._stop.is_set():
                    raise StandardRejected(INCORRECT_STATE, 'the bridge is shutting down')
                last = stepper.step(1)
                done += 1
                handle.publish_feedback(
                    self._type.Feedback(completed_steps=done, remaining_steps=steps - done)
                )
            if last is not None:
                context.catch_up(last.sim_time_ns, mark)
        if done < steps:
            return Ending.CANCELED, f'cancelled after {done} of {count_of(steps, "step")}'
        return Ending.SUCCEEDED, ''


ENTRIES = (
    standard(
        step_simulation,
        {StandardFeature.STEP_SIMULATION_SINGLE: '', StandardFeature.STEP_SIMULATION_MULTIPLE: ''},
        ops=('status', 'set_paused', 'step'),
    ),
    standard(
        StepsAction,
        {StandardFeature.STEP_SIMULATION_ACTION: '', StandardFeature.STEP_SIMULATION_MULTIPLE: ''},
        ops=('status', 'set_paused', 'step'),
        name=NAME,
        kind='action',
    ),
)
