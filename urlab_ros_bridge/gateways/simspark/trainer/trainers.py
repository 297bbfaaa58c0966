# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Executes and acknowledges what trainers send."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
import logging

from urlab_ros_bridge.gateways.simspark.connections import Connection
from urlab_ros_bridge.gateways.simspark.connections import MAX_EXPRESSIONS
from urlab_ros_bridge.gateways.simspark.errors import BadCommand
from urlab_ros_bridge.gateways.simspark.errors import MalformedExpression
from urlab_ros_bridge.gateways.simspark.limited_log import LimitedLog
from urlab_ros_bridge.gateways.simspark.monitor.viewers import Viewers
from urlab_ros_bridge.gateways.simspark.trainer.commands import CommandContext
from urlab_ros_bridge.gateways.simspark.trainer.commands import COMMANDS
from urlab_ros_bridge.gateways.simspark.wire.expressions import Expression
from urlab_ros_bridge.gateways.simspark.wire.expressions import head
from urlab_ros_bridge.gateways.simspark.wire.expressions import write
from urlab_ros_bridge.gateways.simspark.world.stage import GameStage
from urlab_ros_bridge.wire.errors import UrlabError

_LOG = logging.getLogger(__name__)

ACKNOWLEDGE = 'getAck'


class Trainers:
    """
    The clients of the monitors' port: they watch, and command.

    Commands of a client are executed in order, in turns with those of other clients.  Errors are
    logged and not sent to the client (page, "Command Messages from Coach/Trainer").
    """

    def __init__(
        self, viewers: Viewers, kill_simulation: Callable[[], None] | None = None
    ) -> None:
        self._viewers = viewers
        self._kill_simulation = kill_simulation
        self._context: CommandContext | None = None
        self._log = LimitedLog(_LOG)

    def begin(self, stage: GameStage) -> None:
        """Command another world."""
        self._context = CommandContext(
            stage, self._viewers.request_full_state, self._kill_simulation
        )

    def connected(self, connection: Connection) -> None:
        """Send the scene to a new client."""
        self._viewers.join(connection)

    def disconnected(self, connection: Connection) -> None:
        """Forget a client."""
        self._viewers.leave(connection)

    def received(
        self, connection: Connection, expressions: Iterable[Expression]
    ) -> Iterator[None]:
        """Execute the commands of a message; other clients have their turn after each."""
        groups = _groups(expressions)
        count = sum(len(group) for group in groups)
        if count > MAX_EXPRESSIONS:
            self._log.warning('%s: %d commands in a message; at most %d are accepted',
                              connection.peer, count, MAX_EXPRESSIONS)  # fmt: skip
            return
        for group in groups:
            succeeded = True
            for command in group:
                name = head(command)
                if name != ACKNOWLEDGE:
                    succeeded = self._run_or_log(connection, name, command) and succeeded
                else:
                    if succeeded:
                        self._acknowledge(connection, command)
                    succeeded = True
                yield

    def _run_or_log(self, connection: Connection, name: str, command: Expression) -> bool:
        """Execute a command; return whether it succeeded."""
        try:
            self._run(name, command)
        except (BadCommand, MalformedExpression, UrlabError) as error:
            self._log.warning('%s: %s: %s', connection.peer, name or 'a command', error)
            return False
        return True

    def _run(self, name: str, command: Expression) -> None:
        execute = COMMANDS.get(name)
        if execute is None or not isinstance(command, list):
            shown = name if name else 'an expression without a name'
            raise BadCommand(f'{shown!r} is not a command; valid: {", ".join(COMMANDS)}')
        if self._context is None:
            raise BadCommand('there is no simulation yet')
        execute(self._context, command[1:])

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
