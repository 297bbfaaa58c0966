# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What an agent perceives, from the text of a message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from typing import NamedTuple

from urlab_ros_bridge.gateways.simspark.wire.expressions import as_float
from urlab_ros_bridge.gateways.simspark.wire.expressions import as_integer
from urlab_ros_bridge.gateways.simspark.wire.expressions import Expression
from urlab_ros_bridge.gateways.simspark.wire.expressions import head
from urlab_ros_bridge.gateways.simspark.wire.expressions import named
from urlab_ros_bridge.gateways.simspark.wire.expressions import read

Triple = tuple[float, float, float]
BALL = 'B'


class Polar(NamedTuple):
    """Distance in m, angles to the left and up in degrees, from the head."""

    distance: float
    left: float
    up: float


class Force(NamedTuple):
    """Where a foot is pressed, m, and the force on it, N; x right, y forward, z up."""

    place: Triple
    force: Triple


class Heard(NamedTuple):
    """A call: name of the team, s of the game, 'self' or degrees to the left, and the word."""

    team: str
    time: float
    direction: str
    text: str


class SeenBody(NamedTuple):
    """Another player: team, number, and the parts that are seen."""

    team: str
    number: int
    parts: dict[str, Polar]


@dataclass(slots=True)
class Seen:
    """
    One See.

    :ivar points: flags, posts and the ball (``B``) by name.
    :ivar lines: both ends of each.
    :ivar truth: ``mypos``, ``myorien``, ``ballpos``, where the server sends them.
    """

    points: dict[str, Polar] = field(default_factory=dict)
    players: list[SeenBody] = field(default_factory=list)
    lines: list[tuple[Polar, Polar]] = field(default_factory=list)
    truth: dict[str, tuple[float, ...]] = field(default_factory=dict)

    @property
    def ball(self) -> Polar | None:
        """Return the ball, None when it is not seen."""
        return self.points.get(BALL)


@dataclass(slots=True)
class Percepts:
    """
    One message.

    :ivar time: of the simulation, s; `game_time` of the game.
    :ivar number, side: of the player, only in the message that has them.
    :ivar joints: perceptor name -> degrees; `universal` likewise with two.
    :ivar gyro: degrees/s; `acceleration` m/s^2; x right, y forward, z up; None without a sensor.
    :ivar seen: None in messages without vision.
    :ivar temperature, battery: degrees Celsius and percent, None where they are not sent.
    """

    time: float = 0.0
    game_time: float = 0.0
    play_mode: str = ''
    number: int | None = None
    side: str = ''
    score: tuple[int, int] = (0, 0)
    joints: dict[str, float] = field(default_factory=dict)
    universal: dict[str, tuple[float, float]] = field(default_factory=dict)
    gyro: Triple | None = None
    acceleration: Triple | None = None
    forces: dict[str, Force] = field(default_factory=dict)
    touched: dict[str, bool] = field(default_factory=dict)
    heard: list[Heard] = field(default_factory=list)
    seen: Seen | None = None
    temperature: float | None = None
    battery: float | None = None


def read_percepts(payload: bytes) -> Percepts:
    """
    Return the contents of a message; unknown parts are left out.

    :raises MalformedMessage: for text that is not of the protocol.
    """
    found = Percepts()
    for item in read(payload):
        if isinstance(item, list):
            reader = _READERS.get(head(item))
            if reader is not None:
                reader(found, item[1:])
    return found


def _numbers(values: Sequence[Expression] | None) -> tuple[float, ...]:
    return tuple(map(as_float, values or ()))


def _triple(values: Sequence[Expression] | None) -> Triple:
    x, y, z = (*_numbers(values), 0.0, 0.0, 0.0)[:3]
    return x, y, z


def _name(values: Sequence[Expression], key: str = 'n') -> str:
    found = named(values, key)
    return str(found[0]) if found else ''


def _number(values: Sequence[Expression], key: str) -> float:
    found = named(values, key)
    return as_float(found[0]) if found else 0.0


def _time(found: Percepts, values: Sequence[Expression]) -> None:
    found.time = _number(values, 'now')


def _game(found: Percepts, values: Sequence[Expression]) -> None:
    found.game_time = _number(values, 't')
    found.play_mode = _name(values, 'pm')
    found.score = int(_number(values, 'sl')), int(_number(values, 'sr'))
    number = named(values, 'unum')
    if number is not None:
        found.number = as_integer(number[0])
    found.side = _name(values, 'team') or found.side


def _hinge(found: Percepts, values: Sequence[Expression]) -> None:
    found.joints[_name(values)] = _number(values, 'ax')


def _universal(found: Percepts, values: Sequence[Expression]) -> None:
    found.universal[_name(values)] = _number(values, 'ax1'), _number(values, 'ax2')


def _gyro(found: Percepts, values: Sequence[Expression]) -> None:
    found.gyro = _triple(named(values, 'rt'))


def _accelerometer(found: Percepts, values: Sequence[Expression]) -> None:
    found.acceleration = _triple(named(values, 'a'))


def _foot(found: Percepts, values: Sequence[Expression]) -> None:
    found.forces[_name(values)] = Force(_triple(named(values, 'c')), _triple(named(values, 'f')))


def _touch(found: Percepts, values: Sequence[Expression]) -> None:
    if len(values) == 4 and isinstance(values[1], str):
        found.touched[values[1]] = values[3] == '1'


def _read_heard(found: Percepts, values: Sequence[Expression]) -> None:
    if len(values) == 4:
        team, time, way, text = values
        found.heard.append(Heard(str(team), as_float(time), str(way), str(text)))


def _condition(found: Percepts, values: Sequence[Expression]) -> None:
    found.temperature, found.battery = _number(values, 'temp'), _number(values, 'battery')


def _read_seen(found: Percepts, values: Sequence[Expression]) -> None:
    seen = found.seen = Seen()
    for item in values:
        name = head(item)
        if not name or not isinstance(item, list):
            continue
        if name == 'L':
            ends = [Polar(*_triple(end[1:])) for end in item[1:] if isinstance(end, list)]
            if len(ends) == 2:
                seen.lines.append((ends[0], ends[1]))
        elif name == 'P':
            parts = {
                head(part): Polar(*_triple(place))
                for part in item[1:]
                if isinstance(part, list) and (place := named(part[1:], 'pol')) is not None
            }
            number = int(_number(item[1:], 'id'))
            seen.players.append(SeenBody(_name(item[1:], 'team'), number, parts))
        elif (place := named(item[1:], 'pol')) is not None:
            seen.points[name] = Polar(*_triple(place))
        else:
            seen.truth[name] = _numbers(item[1:])


_READERS = {
    'time': _time, 'GS': _game, 'HJ': _hinge, 'UJ': _universal, 'GYR': _gyro,
    'ACC': _accelerometer, 'FRP': _foot, 'TCH': _touch, 'hear': _read_heard, 'See': _read_seen,
    'AgentState': _condition,
}  # fmt: skip


__all__ = ['Force', 'Heard', 'Percepts', 'Polar', 'Seen', 'SeenBody', 'read_percepts']
