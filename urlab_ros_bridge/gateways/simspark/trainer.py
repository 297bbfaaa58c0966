# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Parses, executes and acknowledges the commands of trainers."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import dataclass
import logging
import math
from typing import TypeAlias

from urlab_ros_bridge.gateways.simspark.connections import Connection
from urlab_ros_bridge.gateways.simspark.connections import MAX_EXPRESSIONS
from urlab_ros_bridge.gateways.simspark.errors import BadCommand
from urlab_ros_bridge.gateways.simspark.errors import MalformedExpression
from urlab_ros_bridge.gateways.simspark.errors import OutOfRange
from urlab_ros_bridge.gateways.simspark.game.players import Player
from urlab_ros_bridge.gateways.simspark.game.players import Side
from urlab_ros_bridge.gateways.simspark.monitor.viewers import Viewers
from urlab_ros_bridge.gateways.simspark.wire.expressions import as_float
from urlab_ros_bridge.gateways.simspark.wire.expressions import as_integer
from urlab_ros_bridge.gateways.simspark.wire.expressions import Expression
from urlab_ros_bridge.gateways.simspark.wire.expressions import head
from urlab_ros_bridge.gateways.simspark.wire.expressions import named
from urlab_ros_bridge.gateways.simspark.wire.expressions import write
from urlab_ros_bridge.gateways.simspark.world.stage import GameStage
from urlab_ros_bridge.limited_log import LimitedLog
from urlab_ros_bridge.wire.errors import UrlabError

_LOG = logging.getLogger(__name__)

ACKNOWLEDGE = 'getAck'


class Trainers:
    """
    The clients of the monitors' port: they watch, and command.

    Commands of a client are executed in order, in turns with those of other clients.  Errors are
    logged and not sent to the client (page, "Command Messages from Coach/Trainer").
    """

    speaks_first = False  # a monitor only watches

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


# Larger values leave the range that a physics engine can compute (m, m/s).
FARTHEST = 1000.0
FASTEST = 1000.0
# Percent, and degrees Celsius.
BATTERY = (0.0, 100.0)
TEMPERATURE = (-50.0, 150.0)
# The heading 0 faces +y here, +x in MuJoCo's robots.
_QUARTER = 90.0

Arguments: TypeAlias = list[Expression]


@dataclass(frozen=True, slots=True)
class CommandContext:
    """
    What commands may change.

    :ivar request_full_state: sends the full scene to every monitor.
    :ivar kill_simulation: ends the gateway, None when that is not allowed.
    """

    stage: GameStage
    request_full_state: Callable[[], None]
    kill_simulation: Callable[[], None] | None = None


def agent(context: CommandContext, arguments: Arguments) -> None:
    """
    Move a player, or set its battery and temperature.

    ``(agent (unum n)(team Left|Right)(pos x y z)(move x y z rot)(battery b)(temperature t))``: pos
    keeps the orientation; move sets it upright, rot degrees from +y about z, so that -90 faces the
    right goal.  Both stop it.
    """
    stage = context.stage
    player = _player(stage, arguments, needs_both=True)
    assert player is not None
    position, move = _numbers(arguments, 'pos', 3), _numbers(arguments, 'move', 4)
    battery = _numbers(arguments, 'battery', 1, BATTERY)
    temperature = _numbers(arguments, 'temperature', 1, TEMPERATURE)
    if position or move:
        stage.placement.check_movable(player.robot)
    if position:
        stage.placement.move_robot(player.robot, _above_floor(stage, player, position))
    if move:
        heading = math.radians(move[3] + _QUARTER)
        stage.placement.move_robot(
            player.robot, _above_floor(stage, player, move[:3]), math.remainder(heading, math.tau)
        )
    if battery:
        stage.game.condition(player).battery = battery[0]
    if temperature:
        stage.game.condition(player).temperature = temperature[0]


def ball(context: CommandContext, arguments: Arguments) -> None:
    """
    Move the ball: ``(ball (pos x y z)(vel x y z))``.

    Without vel it keeps its velocity; vel ends its spin.  A position below the floor, as viewers
    send it for mouse clicks, becomes one on the floor.
    """
    position = _numbers(arguments, 'pos', 3)
    velocity = _numbers(arguments, 'vel', 3, (-FASTEST, FASTEST))
    there = context.stage.scene.ball
    if position and there is not None:
        position = [*position[:2], max(position[2], there.radius)]
    context.stage.placement.move_ball(position, velocity)
    context.stage.game.ball_moves += 1


def play_mode(context: CommandContext, arguments: Arguments) -> None:
    """Set the play mode by name: ``(playMode PlayOn)``."""
    context.stage.game.set_play_mode(_word(arguments, 'a play mode'))


def drop(context: CommandContext, arguments: Arguments) -> None:
    """Drop the ball where it is, on the field; players move away from it; play on."""
    context.stage.drop_ball()
    context.stage.game.ball_moves += 1


def kick_off(context: CommandContext, arguments: Arguments) -> None:
    """Give a team the kick-off: ``(kickOff Left|Right|None)``; None tosses a coin."""
    context.stage.game.kick_off(_side(_word(arguments, 'a team')))


def select(context: CommandContext, arguments: Arguments) -> None:
    """
    Select one player: ``(select (unum n)(team T))``.

    Without them the next one, with the number -1 none.
    """
    game = context.stage.game
    number = named(arguments, 'unum')
    if number is not None and number[0] == '-1':
        game.select(None)
        return
    player = _player(context.stage, arguments)
    if player is None:
        game.select_next()
    else:
        game.select(player)


def kill(context: CommandContext, arguments: Arguments) -> None:
    """Take a player out of the game: ``(kill (unum n)(team T))``, or the selected one."""
    player = _player_or_selected(context.stage, arguments)
    context.stage.remove(player)


def reposition(context: CommandContext, arguments: Arguments) -> None:
    """Put a player beside the field: ``(repos (unum n)(team T))``, or the selected one."""
    context.stage.send_off(_player_or_selected(context.stage, arguments))


def time(context: CommandContext, arguments: Arguments) -> None:
    """Set the time of the game: ``(time seconds)``."""
    if len(arguments) != 1:
        raise BadCommand('needs one number of seconds')
    context.stage.game.set_time(as_float(arguments[0]))


def score(context: CommandContext, arguments: Arguments) -> None:
    """Set the score of both teams: ``(score (left n)(right n))``."""
    both = [named(arguments, side.value) for side in Side]
    if not (both[0] and both[1]):
        raise BadCommand('needs (left n) and (right n)')
    context.stage.game.set_score(as_integer(both[0][0]), as_integer(both[1][0]))


def request_full_state(context: CommandContext, arguments: Arguments) -> None:
    """Send the full scene to every monitor."""
    context.request_full_state()


def kill_simulation(context: CommandContext, arguments: Arguments) -> None:
    """End the gateway: ``(killsim)``, not on the page, sent by a menu of RoboViz."""
    if context.kill_simulation is None:
        raise BadCommand('not allowed; start the gateway with --allow-killsim')
    context.kill_simulation()


def nothing(context: CommandContext, arguments: Arguments) -> None:
    """Do nothing: ``(init)`` is what some monitors begin with."""


COMMANDS: dict[str, Callable[[CommandContext, Arguments], None]] = {
    'agent': agent,
    'ball': ball,
    'playMode': play_mode,
    'dropBall': drop,
    'kickOff': kick_off,
    'select': select,
    'kill': kill,
    'repos': reposition,
    'time': time,
    'score': score,
    'reqfullstate': request_full_state,
    'killsim': kill_simulation,
    'init': nothing,
}


def _numbers(
    arguments: Arguments,
    name: str,
    count: int,
    limits: tuple[float, float] = (-FARTHEST, FARTHEST),
) -> list[float] | None:
    """
    Return the numbers of a part, None without it.

    :param limits: of each number; angles, in degrees, may be as large as positions.
    :raises OutOfRange: for a number beyond them.
    """
    found = named(arguments, name)
    if found is None:
        return None
    if len(found) != count:
        raise BadCommand(f'({name} ...) has {len(found)} values, not {count}')
    values = [as_float(item) for item in found]
    for value in values:
        if not limits[0] <= value <= limits[1]:
            raise OutOfRange(f'({name} ...)', value, *limits)
    return values


def _word(arguments: Arguments, what: str) -> str:
    if len(arguments) != 1 or not isinstance(arguments[0], str):
        raise BadCommand(f'needs {what}')
    return arguments[0]


def _side(word: Expression) -> Side | None:
    """Return a side, or None for the word None."""
    if isinstance(word, str):
        # The page's names begin upper-case; SimSpark itself accepts both.
        for side in Side:
            if word in (side.title, side.value):
                return side
        if word == 'None':
            return None
    raise BadCommand(f'unknown team {word!r}; valid: Left, Right, None')


def _player(stage: GameStage, arguments: Arguments, *, needs_both: bool = False) -> Player | None:
    """
    Return the player with a number and team, None when one of them is not given.

    :raises BadCommand: when there is no such player.
    """
    number, team = named(arguments, 'unum'), named(arguments, 'team')
    side = _side(team[0]) if team else None
    if number is None or side is None:
        if needs_both:
            raise BadCommand('needs (unum n) and (team Left|Right)')
        return None
    wanted = as_integer(number[0])
    player = stage.game.roster.find(side, wanted)
    if player is None or player.robot not in stage.scene.robots:
        there = [str(p.number) for p in stage.game.roster.of_side(side)]
        listed = f'its numbers are: {", ".join(there)}' if there else 'the team has no players'
        raise BadCommand(f'there is no player {wanted} in the {side.value} team; {listed}')
    return player


def _player_or_selected(stage: GameStage, arguments: Arguments) -> Player:
    player = _player(stage, arguments) or stage.game.selected
    if player is None:
        raise BadCommand('needs (unum n) and (team T), or a selected player')
    return player


def _above_floor(stage: GameStage, player: Player, place: list[float]) -> list[float]:
    """Return a position above the floor; viewers send ones below it for mouse clicks."""
    height = place[2] if place[2] > 0 else stage.standing_height(player)
    return [place[0], place[1], height]


__all__ = ['ACKNOWLEDGE', 'COMMANDS', 'FARTHEST', 'FASTEST', 'CommandContext', 'Trainers']
