# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What all services share: the same three answer fields, and one place that turns errors into them.

Handlers run in the services' own thread and may wait for the server.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.client.errors import RemoteError
from urlab_ros_bridge.client.errors import RequestTimeout
from urlab_ros_bridge.ros.bag import Recorder
from urlab_ros_bridge.ros.connection import Link
from urlab_ros_bridge.ros.convert import time_to_ros
from urlab_ros_bridge.ros.e_stop import EStop
from urlab_ros_bridge.ros.link_state import describe
from urlab_ros_bridge.ros.link_state import Phase
from urlab_ros_bridge.ros.lockstep import Lockstep
from urlab_ros_bridge.ros.plan import RobotPlan
from urlab_ros_bridge.ros.plan import WorldPlan
from urlab_ros_bridge.ros.reset import Mark
from urlab_ros_bridge.ros.stream import StreamThread
from urlab_ros_bridge.wire.errors import UnknownName
from urlab_ros_bridge.wire.errors import UrlabError

# Codes of the bridge itself; all others are the server's, see wire.errors.ERROR_CODES.
NOT_CONNECTED = 'not_connected'
OBSERVE_ONLY = 'observe_only'
TIMEOUT = 'timeout'
BAD_VALUE = 'bad_value'
BAD_REPLY = 'bad_reply'
E_STOP = 'e_stop'
LOCKSTEP = 'lockstep'

# An answer waits so long (s) for the stream to publish the time it speaks of.
_CATCH_UP_SECONDS = 1.0


class Unfit(UrlabError):
    """A request that the bridge itself turns down, with its code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass
class Context:
    """
    What handlers work with.

    :ivar plan: returns the present plan.
    :ivar on_reset: forgets commands that are under way.
    :ivar e_stop: while it is engaged, nothing may be moved from here.
    :ivar lockstep: steps the server in rounds while it is on.
    :ivar recorder: records bags.
    """

    link: Link
    stream: StreamThread
    plan: Callable[[], WorldPlan]
    on_reset: Callable[[], None]
    e_stop: EStop
    lockstep: Lockstep
    recorder: Recorder

    @property
    def client(self) -> Client:
        """
        Return the client.

        :raises Unfit: when there is no connection, with what to do about it.
        """
        state = self.link.state
        if state.phase is Phase.OBSERVING:
            raise Unfit(OBSERVE_ONLY, 'the bridge only listens (parameter observe_only)')
        if not state.connected:
            raise Unfit(NOT_CONNECTED, describe(state, self.stream.silence)[1])
        return self.link.client

    @property
    def mode(self) -> str:
        """
        Return the mode of the server, which is asked where it tells.

        :raises Unfit: when there is no connection.
        """
        client, link = self.client, self.link
        return client.status().mode if link.has('status') else link.state.mode

    def robot(self, name: str) -> RobotPlan:
        """
        Return a robot by prefix, actor id, or the only one for an empty name.

        :raises Unfit: unknown_articulation.
        """
        handshake = self.link.handshake
        for prefix, robot in (handshake.articulations if handshake else {}).items():
            if name and robot.actor_id == name:
                name = prefix
                break
        plan = self.plan()
        try:
            return plan.robot(name)
        except UnknownName as error:
            names = ', '.join(robot.prefix for robot in plan.robots)
            text = f'articulation is empty; it must be one of: {names}'
            raise Unfit('unknown_articulation', str(error) if name else text) from None

    def settle(self, response: Any, stamp_ns: int, step: int, mark: Mark) -> None:
        """Fill in the time of a reply, and wait until the stream has published it."""
        response.sim_time = time_to_ros(max(0, stamp_ns))
        response.step = max(0, step)
        self.catch_up(stamp_ns, mark)

    def catch_up(self, stamp_ns: int, mark: Mark) -> None:
        """Wait until the stream has published the time of a reply."""
        self.stream.timeline.wait_for(stamp_ns, mark, _CATCH_UP_SECONDS)


# Fills in the response and returns the text of `message`.
Handler = Callable[[Context, Any, Any], str]


@dataclass(frozen=True)
class Service:
    """
    One service.

    :ivar name: below the namespace of the node.
    :ivar handler: what it does; the first line of its docstring says it in the documentation.
    :ivar ops: requests of the wire that it may make; None: the one of its own name.
    """

    name: str
    type_name: str
    handler: Handler
    ops: tuple[str, ...] | None = None

    @property
    def requests(self) -> tuple[str, ...]:
        """Return the requests of the wire that it may make."""
        return (self.name,) if self.ops is None else self.ops


def code_and_text(error: Exception) -> tuple[str, str]:
    """
    Return the code of an error, and what it says.

    :raises TypeError: for an error that nobody expects here.
    """
    if isinstance(error, RemoteError | Unfit):
        return error.code, str(error)
    if isinstance(error, RequestTimeout):
        return TIMEOUT, str(error)
    if isinstance(error, UrlabError) and not isinstance(error, ValueError):
        return BAD_REPLY, str(error)
    if isinstance(error, ValueError | OverflowError):
        return BAD_VALUE, str(error)
    raise TypeError(type(error).__name__) from error


def answer(service: Service, context: Context, request: Any, response: Any) -> Any:
    """Carry out a request; whatever goes wrong becomes success, code and message."""
    code, message, success = '', '', False
    try:
        message = service.handler(context, request, response)
        success = True
    except (UrlabError, ValueError, OverflowError) as error:
        code, message = code_and_text(error)
    response.success = success
    response.message = message
    if hasattr(response, 'code'):
        response.code = code
    elif code:
        response.message = f'{code}: {message.rpartition(f"{code}: ")[2]}'
    return response
