# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Advancing by steps, on every kind of server: time is frozen before and after."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
import contextlib
from dataclasses import dataclass

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.client.replies.observations import StepResult
from urlab_ros_bridge.ros.features.declarations import RequestRejected
from urlab_ros_bridge.ros.link.connection import NOT_CONNECTED
from urlab_ros_bridge.ros.services.base import LOCKSTEP
from urlab_ros_bridge.ros.services.context import ServiceContext
from urlab_ros_bridge.wire.errors import count_of
from urlab_ros_bridge.wire.ops import MAX_STEPS

# Steps in one request: a server gives up on a request after 5 s.  It shows the state once a
# request, so another number would publish other ticks.
CHUNK = 200


@dataclass(frozen=True)
class Stepper:
    """
    Advances by steps.

    :ivar mode: of the server, before it is stepped.
    :ivar is_stopping: returns whether the bridge is ending.
    """

    client: Client
    mode: str
    is_stopping: Callable[[], bool]
    while_paused: bool = False

    def step(self, count: int) -> StepResult:
        """Advance by a number of steps, 1 to `CHUNK`, in one request."""
        return self.client.step(count, observations='minimal', while_paused=self.while_paused)

    def advance(self, count: int) -> StepResult:
        """
        Advance by a number of steps, 1 or more.

        :raises RequestRejected: not_connected when the bridge ends before the last step.
        """
        done = 0
        while True:
            part = min(count - done, CHUNK)
            result = self.step(part)
            done += part
            if done == count:
                return result
            if self.is_stopping():
                raise RequestRejected(
                    NOT_CONNECTED,
                    f'the bridge is shutting down, after {done} of {count_of(count, "step")}',
                )


@contextlib.contextmanager
def stepping(context: ServiceContext, steps: int) -> Iterator[Stepper]:
    """
    Allow steps in the block; a server in live mode is paused, and stays paused.

    :param steps: how many are to be made.

    What the steps change is published whatever the limits of topics say; so wait for it
    (`ServiceContext.catch_up`) in the block.

    :raises RequestRejected: bad_value for too many steps, bad_mode in puppet mode, lockstep while
        the bridge itself steps.
    """
    if steps > MAX_STEPS:
        raise RequestRejected(
            'bad_value', f'{steps} steps requested, at most {MAX_STEPS} are allowed'
        )
    client, link = context.client, context.link
    if context.stepping.in_lockstep:
        raise RequestRejected(
            LOCKSTEP, 'the bridge steps in lockstep; end that with the service lockstep'
        )
    mode = context.mode
    if mode == 'puppet':
        raise RequestRejected(
            'bad_mode', 'in puppet mode a client sets the state, and nothing is stepped'
        )
    if mode == 'direct':
        with context.stepping.by_steps():
            yield Stepper(client, mode, lambda: context.stopping)
        return
    client.set_paused(True)
    link.record_paused(True)
    if link.has('step_while_paused'):
        with context.stepping.by_steps():
            yield Stepper(client, mode, lambda: context.stopping, while_paused=True)
        return
    # This server steps in direct mode only.
    client.set_mode('direct')
    try:
        with context.stepping.by_steps():
            yield Stepper(client, mode, lambda: context.stopping)
    finally:
        # Entering direct mode has ended the pause.
        client.set_paused(True)
        client.set_mode('live')
        client.set_paused(True)
