# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What agents send: each expression of a message is one effector, valid or refused by itself."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import re
from typing import NamedTuple

from urlab_ros_bridge.gateways.simspark.errors import BadCommand
from urlab_ros_bridge.gateways.simspark.game.players import MAX_NUMBER
from urlab_ros_bridge.gateways.simspark.wire.expressions import as_float
from urlab_ros_bridge.gateways.simspark.wire.expressions import as_integer
from urlab_ros_bridge.gateways.simspark.wire.expressions import Expression
from urlab_ros_bridge.gateways.simspark.wire.expressions import head
from urlab_ros_bridge.gateways.simspark.wire.expressions import named

# Characters of a message; the league's limit.
SAY_LENGTH = 20
# Types of the Nao.
LAST_TYPE = 4
_NAME_LENGTH = 64

# An atom without quotes: percepts repeat it to others.
_WORD = re.compile(r'[!#-\'*-~]+')


class Effector(NamedTuple):
    """
    One effector.

    :ivar kind: ``scene``, ``init``, ``beam``, ``say``, ``syn``, ``pass`` or ``joint``.
    :ivar name: file of a scene, name of a team or joint, text of a say; else ''.
    :ivar values: of a scene the type of the robot; number of the player (0: the next free one);
        x, y (m) and heading (degrees from the goal ahead) of a beam; speeds of a joint, rad/s.
    """

    kind: str
    name: str = ''
    values: tuple[float, ...] = ()


def decode(item: Expression) -> Effector:
    """
    Return the effector of one expression.

    :raises BadCommand: when it is none, or has the wrong number of values.
    :raises MalformedExpression: for a value that is not a finite number.
    """
    name = head(item)
    if not name or not isinstance(item, list):
        raise BadCommand('an effector is a list that begins with its name')
    values = item[1:]
    reader = _READERS.get(name)
    return _joint(name, values) if reader is None else reader(values)


def _scene(values: Sequence[Expression]) -> Effector:
    if not values or not isinstance(values[0], str):
        raise BadCommand('scene: the name of a file is missing')
    kind = as_integer(values[1]) if len(values) > 1 else 0
    if not 0 <= kind <= LAST_TYPE:
        raise BadCommand(f'scene: robot type {kind} is not 0 to {LAST_TYPE}')
    return Effector('scene', values[0][:_NAME_LENGTH], (kind,))


def _init(values: Sequence[Expression]) -> Effector:
    team, number = named(values, 'teamname'), named(values, 'unum')
    if team is None or not isinstance(team[0], str):
        raise BadCommand('init: (teamname X) is missing')
    if not _WORD.fullmatch(team[0]) or len(team[0]) > _NAME_LENGTH:
        raise BadCommand(
            f'init: team name {team[0][:_NAME_LENGTH]!r} must be 1 to {_NAME_LENGTH} visible '
            'characters without parentheses, quotes and blanks'
        )
    chosen = 0 if number is None else as_integer(number[0])
    if not 0 <= chosen <= MAX_NUMBER:
        raise BadCommand(f'init: unum {chosen} is not 0 to {MAX_NUMBER}')
    return Effector('init', team[0], (chosen,))


def _beam(values: Sequence[Expression]) -> Effector:
    if len(values) != 3:
        raise BadCommand(f'beam: 3 numbers are needed, not {len(values)}')
    return Effector('beam', '', tuple(map(as_float, values)))


def _say(values: Sequence[Expression]) -> Effector:
    text = values[0] if len(values) == 1 else None
    if not isinstance(text, str) or not _WORD.fullmatch(text) or len(text) > SAY_LENGTH:
        raise BadCommand(
            f'say: one word of 1 to {SAY_LENGTH} visible characters without parentheses'
        )
    return Effector('say', text)


def _joint(name: str, values: Sequence[Expression]) -> Effector:
    if len(values) not in (1, 2):
        raise BadCommand(
            f'{name[:_NAME_LENGTH]}: a joint takes 1 speed, a universal joint 2, not {len(values)}'
        )
    return Effector('joint', name, tuple(map(as_float, values)))


_READERS: dict[str, Callable[[Sequence[Expression]], Effector]] = {
    'scene': _scene,
    'init': _init,
    'beam': _beam,
    'say': _say,
    'syn': lambda values: Effector('syn'),
    'pass': lambda values: Effector('pass'),
}


__all__ = ['SAY_LENGTH', 'Effector', 'decode']
