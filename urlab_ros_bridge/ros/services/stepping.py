# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Advancing by steps, on every kind of server: time is frozen before and after."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
from dataclasses import dataclass

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.client.replies.observations import StepResult
from urlab_ros_bridge.ros.features.rejection import RequestRejected
from urlab_ros_bridge.ros.services.base import LOCKSTEP
from urlab_ros_bridge.ros.services.context import ServiceContext
from urlab_ros_bridge.wire.ops import MAX_STEPS

# Steps in one request: a server gives up on a request after 5 s.
CHUNK = 200


@dataclass(frozen=True)
class Stepper:
    """
    Advances by steps.

    :ivar mode: of the server, before it is stepped.
    """

    client: Client
    mode: str
    while_paused: bool = False

    def advance(self, count: int) -> StepResult:
        """Advance by so many steps, 1 or more."""
        while True:
            result = self.client.step(
                min(count, CHUNK), observations='minimal', while_paused=self.while_paused
            )
            count -= CHUNK
            if count <= 0:
                return result


@contextlib.contextmanager
def stepping(context: ServiceContext, steps: int) -> Iterator[Stepper]:
    """
    Let the block advance by steps; a server in live mode is paused, and stays paused.

    :param steps: how many one call of `advance` makes at most; other services wait meanwhile.

    What the steps change is published whatever the limits of topics say; so wait for it
    (`ServiceContext.catch_up`) in the block.

    :raises RequestRejected: bad_value for too many steps, bad_mode in puppet mode, lockstep while
        the bridge itself steps.
    """
    if steps > MAX_STEPS:
        raise RequestRejected('bad_value', f'{steps} steps: one request may make {MAX_STEPS}')
    client, link = context.client, context.link
    if context.lockstep.on:
        raise RequestRejected(
            LOCKSTEP, 'in lockstep the bridge steps; end it with the service lockstep'
        )
    mode = context.mode
    if mode == 'puppet':
        raise RequestRejected(
            'bad_mode', 'in puppet mode a client sends the states, nothing is stepped'
        )
    if mode == 'direct':
        with context.stream.in_full():
            yield Stepper(client, mode)
        return
    client.set_paused(True)
    link.note_paused(True)
    if link.has('step_while_paused'):
        with context.stream.in_full():
            yield Stepper(client, mode, while_paused=True)
        return
    # This server steps in direct mode only.
    client.set_mode('direct')
    try:
        with context.stream.in_full():
            yield Stepper(client, mode)
    finally:
        # Entering direct mode has ended the pause.
        client.set_paused(True)
        client.set_mode('live')
        client.set_paused(True)
