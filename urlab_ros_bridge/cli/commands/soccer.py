# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab soccer`: write the soccer world with more players, or on another field."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from urlab_ros_bridge.cli.arguments.argument import Arguments
from urlab_ros_bridge.cli.arguments.command import Command
from urlab_ros_bridge.cli.arguments.command import ParsedArguments
from urlab_ros_bridge.cli.arguments.groups import FOLDER
from urlab_ros_bridge.models.nao_types import NAO_TYPES
from urlab_ros_bridge.models.nao_types import UnknownNaoType
from urlab_ros_bridge.models.soccer import PITCHES
from urlab_ros_bridge.models.soccer import TEAM_SIZES
from urlab_ros_bridge.models.soccer import write_world
from urlab_ros_bridge.schema import key


def read_types(text: str) -> list[int]:
    """
    Return the types of a list such as ``0,1,4``.

    :raises UnknownNaoType: for anything else, naming it.
    """
    words = [word.strip() for word in text.split(',')] if text else []
    valid = [str(number) for number in range(len(NAO_TYPES))]
    for word in words:
        if word not in valid:
            raise UnknownNaoType(word)
    return [int(word) for word in words]


def _types(text: str) -> str:
    """Check a list of types."""
    try:
        count = len(read_types(text))
    except UnknownNaoType as error:
        return str(error)
    most = TEAM_SIZES[-1]
    return '' if count <= most else f'{count} types; a team has at most {most} players'


@dataclass(frozen=True, kw_only=True)
class SoccerArguments(Arguments):
    """The arguments of `urlab soccer`."""

    players: int = key(
        11, 'Players per team.', metavar='N', low=TEAM_SIZES[0], high=TEAM_SIZES[-1]
    )
    field: str = key(
        'page',
        'Field: 18 m x 12 m as on the protocol page, or 30 m x 20 m as in the league.',
        choices=tuple(PITCHES),
    )
    types: str = key(
        '',
        'Types of the Nao of players 1, 2, ... of both teams, 0 to 4, separated by commas; '
        'players beyond the list are of type 0.',
        metavar='N,...',
        check=_types,
    )
    output: str = key('soccer', 'Folder to write to.', **FOLDER)


def run(given: ParsedArguments[SoccerArguments]) -> int:
    """Write the files of the world and print the command that serves it."""
    values = given.values
    sidecar = write_world(
        Path(values.output), values.players, values.field, read_types(values.types)
    )
    pitch = PITCHES[values.field]
    print(f'{values.players} a side on {pitch.length:g} m x {pitch.width:g} m')
    print(f'urlab server --model {sidecar}')
    return 0


COMMAND = Command(
    name='soccer',
    summary='Write a soccer world with N players per side.',
    text='Write the world soccer with 1 to 11 players per side into a self-contained folder:\n'
    'the field, players, and a sidecar for "urlab server --model". Files of an earlier run are\n'
    'replaced. Needs no ROS and no server.',
    section=SoccerArguments,
    run=run,
    examples=(
        ('urlab soccer', '11 per side in the folder soccer'),
        ('urlab soccer --types 0,1,1,1,2,3,3,3,4,4,4', 'heterogeneous players, type by number'),
        ('urlab soccer --players 4 --field league --output pitch', 'the field of the league'),
    ),
)
