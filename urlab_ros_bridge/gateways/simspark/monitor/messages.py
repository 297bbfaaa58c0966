# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Messages to monitors: the environment, the game state, and the log file that has them."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TypeAlias

from urlab_ros_bridge.gateways.simspark.errors import SimSparkError
from urlab_ros_bridge.gateways.simspark.game.players import Side
from urlab_ros_bridge.gateways.simspark.game.rules import Rules
from urlab_ros_bridge.gateways.simspark.game.state import Foul
from urlab_ros_bridge.gateways.simspark.game.state import GameState
from urlab_ros_bridge.gateways.simspark.game.state import PLAY_MODES
from urlab_ros_bridge.gateways.simspark.wire.expressions import Writable
from urlab_ros_bridge.gateways.simspark.wire.expressions import write

_LOG = logging.getLogger(__name__)

GameReport: TypeAlias = 'dict[str, float | str | tuple[Foul, ...]]'
# Values that a full message omits.
_DEFAULTS = {
    'team_left': '',
    'team_right': '',
    **{f'pass_mode_score_wait_{side.value}': 0 for side in Side},
}


def environment(rules: Rules) -> bytes:
    """
    Return the entries of the environment information message.

    Network Protocol page, "Environment Information Message"; the game state refers to play modes
    by their index.
    """
    numbers: list[list[Writable]] = [[name, float(value)] for name, value in rules.named().items()]
    return write(*numbers, ['play_modes', *PLAY_MODES])


def report(game: GameState) -> GameReport:
    """Return the entries of the game state message, in order."""
    return {
        'time': float(game.time),
        'half': game.half,
        'score_left': game.score[Side.LEFT],
        'score_right': game.score[Side.RIGHT],
        'play_mode': PLAY_MODES.index(game.play_mode),
        'team_left': game.teams[Side.LEFT],
        'team_right': game.teams[Side.RIGHT],
        **{f'pass_mode_score_wait_{side.value}': int(side in game.no_score) for side in Side},
        'foul': game.fouls,
    }


def game_state(now: GameReport, before: GameReport | None = None) -> bytes:
    """
    Return the entries of a game state message: the time, and what differs from `before`.

    Network Protocol page, "GameState Message".  As in SimSpark, team names are sent once there
    are any, and a foul once, when it has happened.
    """
    entries: list[list[Writable]] = []
    for name, value in now.items():
        known = None if before is None else before[name]
        if isinstance(value, tuple):
            last = known[-1].number if isinstance(known, tuple) and known else 0
            entries += [_foul(each) for each in value if before is not None and each.number > last]
        elif name == 'time' or value != (_DEFAULTS.get(name) if before is None else known):
            entries.append([name, value])
    return write(*entries)


def _foul(foul: Foul) -> list[Writable]:
    team = 1 if foul.player.side is Side.LEFT else 2
    return ['foul', foul.number, foul.kind.value, team, foul.player.number]


class LogNotWritable(SimSparkError, OSError):
    """The file of a log cannot be written."""

    def __init__(self, path: Path, cause: OSError) -> None:
        super().__init__(f'cannot write the log {path}: {cause.strerror}')


class LogFile:
    """
    A viewer that writes its messages to a file, one a line, which RoboViz can replay.

    Each line is written as a whole, so that the log of a killed program can be replayed.
    """

    def __init__(self, path: Path) -> None:
        """
        Open the file; an existing one is overwritten.

        :raises LogNotWritable: when it cannot be.
        """
        self._path = path
        try:
            self._file = path.open('wb')
        except OSError as error:
            raise LogNotWritable(path, error) from error

    @property
    def is_clear(self) -> bool:
        """Return whether the log continues."""
        return not self._file.closed

    def send(self, payload: bytes) -> bool:
        """Write a message; after an error the log ends."""
        if not self.is_clear:
            return False
        try:
            self._file.write(payload + b'\n')
            self._file.flush()
        except OSError as error:
            _LOG.error('logging stopped: %s', LogNotWritable(self._path, error))
            self.close()
            return False
        return True

    def close(self) -> None:
        """End the log; safe to call twice."""
        try:
            self._file.close()
        except OSError as error:  # its buffer cannot be written
            _LOG.error('%s', LogNotWritable(self._path, error))


__all__ = ['GameReport', 'LogFile', 'LogNotWritable', 'environment', 'game_state', 'report']
