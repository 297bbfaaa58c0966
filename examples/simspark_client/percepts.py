# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The percepts of an agent, read from a message, and its pose on the field from them."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
import math
from typing import NamedTuple

import numpy as np

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


@dataclass(frozen=True, slots=True)
class Located:
    """
    A pose on the field.

    :ivar place: of the head, m, shape (3,).
    :ivar axes: of the head as columns x forward, y left, z up, shape (3, 3).
    """

    place: np.ndarray
    axes: np.ndarray

    @property
    def heading(self) -> float:
        """Return the direction that the head looks in, degrees to the left of x."""
        return math.degrees(math.atan2(self.axes[1, 0], self.axes[0, 0]))

    def on_field(self, seen: Polar) -> np.ndarray:
        """Return where something that is seen is on the field, m, shape (3,)."""
        where: np.ndarray = self.place + self.axes @ cartesian(seen)
        return where


def cartesian(seen: Polar) -> np.ndarray:
    """
    Return a point before the head: x forward, y left, z up, m, shape (3,).

    >>> cartesian(Polar(2.0, 90.0, 0.0)).round(9) + 0.0
    array([0., 2., 0.])
    """
    left, up = math.radians(seen.left), math.radians(seen.up)
    flat = seen.distance * math.cos(up)
    return np.array([flat * math.cos(left), flat * math.sin(left), seen.distance * math.sin(up)])


def landmarks(
    length: float = 18.0, width: float = 12.0, goal_width: float = 2.1, goal_height: float = 0.8
) -> dict[str, np.ndarray]:
    """Return flags and posts of a field, m; x points to the goal of the right team."""
    found = {}
    for side, x in (('L', -length / 2), ('R', length / 2)):
        for number, sign in ((1, 1.0), (2, -1.0)):
            found[f'F{number}{side}'] = np.array([x, sign * width / 2, 0.0])
            found[f'G{number}{side}'] = np.array([x, sign * goal_width / 2, goal_height])
    return found


def locate(seen: Seen, known: Mapping[str, np.ndarray]) -> Located | None:
    """
    Return the pose that fits best to the landmarks that are seen, by least squares.

    :param known: name of a landmark -> where it is, as `landmarks` returns them.
    :returns: None with fewer than three landmarks, or with all of them on one line.
    """
    names = [name for name in seen.points if name in known]
    if len(names) < 3:
        return None
    here = np.array([cartesian(seen.points[name]) for name in names])
    there = np.array([known[name] for name in names])
    here_middle, there_middle = here.mean(axis=0), there.mean(axis=0)
    # Kabsch: the rotation between two clouds of points.
    u, strength, vt = np.linalg.svd((there - there_middle).T @ (here - here_middle))
    if strength[1] < 1e-3 * strength[0]:
        return None
    axes = u @ np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt))]) @ vt
    return Located(there_middle - axes @ here_middle, axes)


__all__ = [
    'Force',
    'Heard',
    'Located',
    'Percepts',
    'Polar',
    'Seen',
    'SeenBody',
    'cartesian',
    'landmarks',
    'locate',
    'read_percepts',
]
