# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What agents send: each expression of a message is one effector, or refused alone."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import dataclass
import re
from typing import TypeAlias

from urlab_ros_bridge.gateways.simspark.errors import BadCommand
from urlab_ros_bridge.gateways.simspark.game.players import MAX_NUMBER
from urlab_ros_bridge.gateways.simspark.wire.expressions import as_float
from urlab_ros_bridge.gateways.simspark.wire.expressions import as_integer
from urlab_ros_bridge.gateways.simspark.wire.expressions import Expression
from urlab_ros_bridge.gateways.simspark.wire.expressions import head
from urlab_ros_bridge.gateways.simspark.wire.expressions import named

# Characters of a message; the league's limit.
SAY_LENGTH = 20
_NAME_LENGTH = 64

# What may be an atom without quotes: percepts repeat it to others.
_WORD = re.compile(r'[!#-\'*-~]+')


@dataclass(frozen=True, slots=True)
class SceneEffector:
    """``(scene FILE ...)``: asks for a robot; the file is not looked at unless it names one."""

    file: str


@dataclass(frozen=True, slots=True)
class InitEffector:
    """``(init (unum N)(teamname X))``: which player it is; 0 is the next free number."""

    number: int
    team: str


@dataclass(frozen=True, slots=True)
class BeamEffector:
    """``(beam x y rot)``: where to stand before a kick-off; m, and degrees from the goal ahead."""

    x: float
    y: float
    heading: float


@dataclass(frozen=True, slots=True)
class SayEffector:
    """``(say TEXT)``."""

    text: str


@dataclass(frozen=True, slots=True)
class JointEffector:
    """``(he1 v)``, or two values for a universal joint: speeds in rad/s."""

    name: str
    speeds: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class SynEffector:
    """``(syn)``: the agent is done with this cycle."""


@dataclass(frozen=True, slots=True)
class PassEffector:
    """``(pass)``: asks for the pass mode."""


Effector: TypeAlias = (
    'SceneEffector | InitEffector | BeamEffector | SayEffector | JointEffector | SynEffector | '
    'PassEffector'
)


def decode(item: Expression) -> Effector:
    """
    Return the effector of one expression.

    :raises BadCommand: when it is none, or has the wrong number of values.
    :raises MalformedMessage: for a value that is not a finite number.
    """
    name = head(item)
    if not name or not isinstance(item, list):
        raise BadCommand('an effector is a list that begins with its name')
    values = item[1:]
    reader = _READERS.get(name)
    return _joint(name, values) if reader is None else reader(values)


def _scene(values: Sequence[Expression]) -> SceneEffector:
    if not values or not isinstance(values[0], str):
        raise BadCommand('scene: the name of a file is missing')
    return SceneEffector(values[0][:_NAME_LENGTH])


def _init(values: Sequence[Expression]) -> InitEffector:
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
    return InitEffector(chosen, team[0])


def _beam(values: Sequence[Expression]) -> BeamEffector:
    if len(values) != 3:
        raise BadCommand(f'beam: 3 numbers are needed, not {len(values)}')
    return BeamEffector(*map(as_float, values))


def _read_say(values: Sequence[Expression]) -> SayEffector:
    text = values[0] if len(values) == 1 else None
    if not isinstance(text, str) or not _WORD.fullmatch(text) or len(text) > SAY_LENGTH:
        raise BadCommand(
            f'say: one word of 1 to {SAY_LENGTH} visible characters without parentheses'
        )
    return SayEffector(text)


def _joint(name: str, values: Sequence[Expression]) -> JointEffector:
    if len(values) not in (1, 2):
        raise BadCommand(
            f'{name[:_NAME_LENGTH]}: a joint takes 1 speed, a universal joint 2, not {len(values)}'
        )
    return JointEffector(name, tuple(map(as_float, values)))


_READERS: dict[str, Callable[[Sequence[Expression]], Effector]] = {
    'scene': _scene,
    'init': _init,
    'beam': _beam,
    'say': _read_say,
    'syn': lambda values: SynEffector(),
    'pass': lambda values: PassEffector(),
}


__all__ = [
    'SAY_LENGTH', 'BeamEffector', 'Effector', 'InitEffector', 'JointEffector', 'PassEffector',
    'SayEffector', 'SceneEffector', 'SynEffector', 'decode',
]  # fmt: skip
