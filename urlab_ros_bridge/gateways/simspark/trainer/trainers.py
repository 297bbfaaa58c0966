# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Carries out what trainers send, and acknowledges it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
import logging

from urlab_ros_bridge.gateways.simspark.errors import BadCommand
from urlab_ros_bridge.gateways.simspark.errors import MalformedExpression
from urlab_ros_bridge.gateways.simspark.tcp.connection import Connection
from urlab_ros_bridge.gateways.simspark.tcp.limited_log import LimitedLog
from urlab_ros_bridge.gateways.simspark.tcp.server import MAX_EXPRESSIONS
from urlab_ros_bridge.gateways.simspark.trainer.commands import COMMANDS
from urlab_ros_bridge.gateways.simspark.trainer.commands import Powers
from urlab_ros_bridge.gateways.simspark.wire.expressions import Expression
from urlab_ros_bridge.gateways.simspark.wire.expressions import head
from urlab_ros_bridge.gateways.simspark.wire.expressions import write
from urlab_ros_bridge.gateways.simspark.world.roles import GameStage
from urlab_ros_bridge.wire.errors import UrlabError

_LOG = logging.getLogger(__name__)

ACKNOWLEDGE = 'getAck'


class Trainers:
    """
    The clients of the monitors' port as commanders.

    Commands of a client are carried out in order, one with each `work`, in turns with those of
    other clients, so that nobody's many commands delay another's; `Connection.is_busy` tells that
    some wait.  Errors in one go to the log and not to the client (page, "Command Messages from
    Coach/Trainer").
    """

    def __init__(
        self,
        request_full_state: Callable[[], None],
        kill_simulation: Callable[[], None] | None = None,
    ) -> None:
        self._request_full_state = request_full_state
        self._kill_simulation = kill_simulation
        self._powers: Powers | None = None
        self._log = LimitedLog(_LOG)
        # The first connection is next; what it has left goes behind the others.
        self._pending: dict[Connection, deque[Iterator[None]]] = {}

    def begin(self, stage: GameStage) -> None:
        """Command another world."""
        self._powers = Powers(stage, self._request_full_state, self._kill_simulation)

    def received(self, connection: Connection, expressions: Iterable[Expression]) -> None:
        """Take a message; `work` carries it out."""
        groups = _groups(expressions)
        count = sum(len(group) for group in groups)
        if count > MAX_EXPRESSIONS:
            self._log.warning('%s: %d commands in a message; at most %d are accepted',
                              connection.peer, count, MAX_EXPRESSIONS)  # fmt: skip
            return
        for group in groups:
            if group:
                steps = self._carry_out(connection, group)
                self._pending.setdefault(connection, deque()).extend(steps for _ in group)
                connection.is_busy = True

    @property
    def is_busy(self) -> bool:
        """Return whether commands wait."""
        return bool(self._pending)

    def work(self) -> None:
        """Carry out the next command that waits."""
        connection = next(iter(self._pending), None)
        if connection is None:
            return
        steps = self._pending.pop(connection)
        next(steps.popleft(), None)
        if steps:
            self._pending[connection] = steps
        else:
            connection.is_busy = False

    def _carry_out(self, connection: Connection, commands: list[Expression]) -> Iterator[None]:
        """Carry out one command at a time; a cookie answers when those before it went well."""
        well = True
        for command in commands:
            name = head(command)
            if name != ACKNOWLEDGE:
                well = self._run_or_log(connection, name, command) and well
            else:
                if well:
                    self._acknowledge(connection, command)
                well = True
            yield

    def _run_or_log(self, connection: Connection, name: str, command: Expression) -> bool:
        """Carry out a command; return whether it went well."""
        try:
            self._run(name, command)
        except (BadCommand, MalformedExpression, UrlabError) as error:
            self._log.warning('%s: %s: %s', connection.peer, name or 'a command', error)
            return False
        return True

    def _run(self, name: str, command: Expression) -> None:
        carry_out = COMMANDS.get(name)
        if carry_out is None or not isinstance(command, list):
            shown = name if name else 'an expression without a name'
            raise BadCommand(f'{shown!r} is not a command; valid: {", ".join(COMMANDS)}')
        if self._powers is None:
            raise BadCommand('there is no simulation yet')
        carry_out(self._powers, command[1:])

    def _acknowledge(self, connection: Connection, command: Expression) -> None:
        cookie = command[1] if isinstance(command, list) and len(command) == 2 else None
        if isinstance(cookie, str):
            connection.send(write(['ack', cookie]))
        else:
            self._log.warning('%s: %s needs one cookie', connection.peer, ACKNOWLEDGE)


def _groups(expressions: Iterable[Expression]) -> list[list[Expression]]:
    """
    Return the commands that belong together.

    As on the page, ``((ball ...)(getAck x))``, or one after the other as stock tools send them,
    ``(ball ...)(getAck x)``.
    """
    flat: list[Expression] = []
    groups = [flat]
    for item in expressions:
        if isinstance(item, list) and item and isinstance(item[0], list):
            groups.append(item)
            flat = []
            groups.append(flat)
        else:
            flat.append(item)
    return groups


__all__ = ['ACKNOWLEDGE', 'Trainers']
