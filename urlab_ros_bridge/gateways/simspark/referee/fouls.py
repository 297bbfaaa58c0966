# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Fouls of players, by the rules of SimSpark 0.7 (rcssserver3d); its numbers are in `Limits`.

Whoever commits one is put beside the field.  Contact between players is judged by the distance of
their bodies, because observations have no contacts between them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field
import math

import numpy as np

from urlab_ros_bridge.gateways.simspark.game.players import Player
from urlab_ros_bridge.gateways.simspark.game.players import Side
from urlab_ros_bridge.gateways.simspark.game.state import FoulType
from urlab_ros_bridge.gateways.simspark.world.stage import GameStage

GOALKEEPER = 1
# Two players touch when bodies of theirs are nearer than this, m.
CONTACT = 0.15
# Players farther apart than this cannot touch, m.
_REACH = 0.9
# A base that moves farther in a cycle was put somewhere, m.
_JUMP = 0.5
# Cycles over which velocities are averaged.
_AVERAGE = 10
# Of the standing height: a base below is on the ground, or not standing (0.15 and 0.25 m).
_GROUND, _MIDDLE = 0.39, 0.65


@dataclass(frozen=True, slots=True)
class Limits:
    """
    Numbers of the rules; m, s, m/s and degrees.

    :ivar ground, not_standing: how long a player may lie, or not stand; of the goalkeeper twice.
    :ivar area_players: players of a team in its own penalty area.
    :ivar group: players that may touch each other.
    :ivar opponent, second, third: crowding: with an opponent nearer to the ball than the first,
        the second nearest player of a team may not be nearer than `second`, the third not nearer
        than `third`.
    :ivar speed, ball_angle, distance, angle: charging: speed of who charges, and its angle to the
        ball; if both run for the ball, differences of distance and angle.
    :ivar immunity, quiet: who touched the ball or was moved so recently does not charge; contacts
        without charging end a charge after this time.
    :ivar ball_rules, ball_contact: within the first from the ball its direction counts, within
        the second nobody charges; `impact` the speed of the collision.
    """

    ground: float = 15.0
    not_standing: float = 30.0
    area_players: int = 3
    group: int = 2
    opponent: float = 0.8
    second: float = 0.4
    third: float = 1.0
    speed: float = 0.4
    ball_angle: float = 30.0
    distance: float = 0.05
    angle: float = 15.0
    immunity: float = 1.0
    quiet: float = 0.2
    ball_rules: float = 1.0
    ball_contact: float = 0.1
    impact: float = 0.2


@dataclass(slots=True)
class _Record:
    """What is known of a player; times in s."""

    ground: float = 0.0
    down: float = 0.0
    standing: float = 5.0
    in_area: bool = False
    touching: bool = False
    since_ball: float = math.inf
    since_moved: float = math.inf
    since_other_contact: float = math.inf
    places: deque[np.ndarray] = field(default_factory=lambda: deque(maxlen=_AVERAGE + 1))

    def velocity(self, seconds: float) -> np.ndarray:
        """Return the mean horizontal velocity over cycles of so many seconds, m/s."""
        if len(self.places) < 2 or not seconds > 0:
            return np.zeros(2)
        mean: np.ndarray = (self.places[-1] - self.places[0])[:2]
        return mean / (seconds * (len(self.places) - 1))


@dataclass(frozen=True, slots=True)
class Runner:
    """
    One of two players that collide, in the plane: m, m/s.

    :ivar immune: whether it may charge: it touched the ball recently, or keeps its goal.
    """

    place: np.ndarray
    velocity: np.ndarray
    immune: bool = False


def charger(
    pair: tuple[Runner, Runner], meeting: np.ndarray, ball: np.ndarray, limits: Limits
) -> int | None:
    """
    Return which of two colliding opponents charges the other, None for neither.

    A player charges that runs into its opponent rather than for the ball.  If both run for the
    ball, it is the one that is farther from it and comes from another direction.
    """
    if math.dist(meeting, ball) < limits.ball_contact:
        return None
    away = [math.dist(each.place, ball) for each in pair]
    speed = [math.hypot(*each.velocity) for each in pair]
    to_ball = [_angle(each.velocity, ball - each.place) for each in pair]
    to_other = [_angle(a.velocity, b.place - a.place) for a, b in (pair, pair[::-1])]
    charging = [True, True]
    if min(away) < limits.ball_rules:
        charging = [
            to_ball[i] >= max(to_other[i], limits.ball_angle) and speed[i] >= limits.speed
            for i in range(2)
        ]
        if not any(charging) and abs(away[0] - away[1]) > limits.distance:
            apart = abs(to_other[0] - to_other[1]) > limits.angle
            last = int(away[1] > away[0])
            charging[last] = apart or speed[1 - last] < limits.speed
    towards = [
        _unit((meeting + other.place) / 2 - own.place) @ own.velocity
        for own, other in (pair, pair[::-1])
    ]
    found = [
        i
        for i in range(2)
        if charging[i]
        and speed[i] >= limits.speed
        and towards[i] + 0.5 * min(0.0, towards[1 - i]) >= limits.impact
    ]
    return found[0] if len(found) == 1 and not pair[found[0]].immune else None


class Fouls:
    """
    Watches the players for fouls.

    :param rules: names of the rules in force, of `RULES`.
    """

    def __init__(self, rules: frozenset[str], limits: Limits | None = None) -> None:
        self._rules = rules
        self._limits = limits or Limits()
        self._records: dict[Player, _Record] = {}

    def reset(self) -> None:
        """Forget everything: at pauses of the game."""
        self._records.clear()

    def find(
        self, stage: GameStage, touching: set[Player], seconds: float
    ) -> list[tuple[Player, FoulType]]:
        """
        Return the fouls since the last cycle, at most one per player.

        :param touching: players that touch the ball.
        :param seconds: since the last cycle.
        """
        players = [p for p in stage.game.roster if stage.placement.is_movable(p.robot)]
        places = {player: np.array(stage.base_position(player)) for player in players}
        self._records = {p: self._records.get(p) or _Record() for p in players}
        entered = set()
        for player, place in places.items():
            record = self._records[player]
            self._observe(stage, player, record, place, seconds, player in touching)
            inside = stage.game.rules.in_area(player.side, place[0], place[1])
            if inside and not record.in_area:
                entered.add(player)
            record.in_area = inside
        found: dict[Player, FoulType] = {}
        pairs = _contacts(stage, places)
        checks = {
            'charging': self._charging(stage, pairs, places, seconds),
            'crowding': self._crowding(stage, places),
            'illegal_defence': self._illegal_defence(stage, places, entered),
            'incapable': self._incapable(),
            'touching': self._touching(players, pairs),
        }
        for rule, check in checks.items():  # a check that is not iterated does not run
            for player, kind in check if rule in self._rules else ():
                found.setdefault(player, kind)
        partners = {player for pair in pairs for player in pair}
        for player, record in self._records.items():
            record.touching = player in partners
        for player in found:
            del self._records[player]
        return list(found.items())

    def _observe(
        self,
        stage: GameStage,
        player: Player,
        record: _Record,
        place: np.ndarray,
        seconds: float,
        touches_ball: bool,
    ) -> None:
        if record.places and math.dist(record.places[-1], place) > _JUMP:
            record.places.clear()
            record.since_moved = 0.0
        record.places.append(place)
        on_field = abs(place[1]) < stage.game.rules.half_width + 0.1
        height = place[2] / stage.standing_height(player)
        if height >= _MIDDLE:
            record.standing += seconds
            record.ground = 0.0
        elif on_field:
            record.down += seconds
            record.standing = 0.0
        if height < _GROUND and on_field:
            record.ground += seconds
        if record.standing > 0.5:
            record.down = 0.0
        record.since_ball = 0.0 if touches_ball else record.since_ball + seconds
        record.since_moved += seconds
        record.since_other_contact += seconds

    def _incapable(self) -> Iterator[tuple[Player, FoulType]]:
        for player, record in self._records.items():
            patience = 2.0 if player.number == GOALKEEPER else 1.0
            if (
                record.ground > patience * self._limits.ground
                or record.down > patience * self._limits.not_standing
            ):
                yield player, FoulType.INCAPABLE

    def _crowding(
        self, stage: GameStage, places: dict[Player, np.ndarray]
    ) -> Iterator[tuple[Player, FoulType]]:
        ball = stage.scene.ball
        if ball is None:
            return
        away = {p: math.dist(place[:2], ball.position[:2]) for p, place in places.items()}
        for side in Side:
            opponents = [away[p] for p in away if p.side is not side]
            if min(opponents, default=math.inf) >= self._limits.opponent:
                continue
            if stage.game.play_mode == f'KickOff_{side.title}':
                continue
            order = sorted((p for p in away if p.side is side), key=away.__getitem__)
            for player, nearest in zip(
                order[1:3], (self._limits.second, self._limits.third), strict=False
            ):
                if player.number != GOALKEEPER and away[player] <= nearest:
                    yield player, FoulType.CROWDING

    def _illegal_defence(
        self, stage: GameStage, places: dict[Player, np.ndarray], entered: set[Player]
    ) -> Iterator[tuple[Player, FoulType]]:
        for side in Side:
            inside = [p for p, r in self._records.items() if r.in_area and p.side is side]
            if len(inside) <= self._limits.area_players:
                continue
            field_players = [p for p in inside if p.number != GOALKEEPER]
            late = [p for p in field_players if p in entered]
            if not late and any(p in entered for p in inside):  # the goalkeeper entered last
                goal = np.array([side.sign * stage.game.rules.half_length, 0.0])
                late = [max(field_players, key=lambda p: math.dist(places[p][:2], goal))]
            for player in late:
                yield player, FoulType.ILLEGAL_DEFENCE

    def _touching(
        self, players: list[Player], pairs: dict[tuple[Player, Player], np.ndarray]
    ) -> Iterator[tuple[Player, FoulType]]:
        for group in _groups(players, pairs):
            for player in sorted(group, key=players.index):
                if len(group) <= self._limits.group or self._records[player].touching:
                    continue
                own = [p for p in group if p.side is player.side]
                others = [p for p in group if p.side is not player.side]
                guilty = [player] if player.number != GOALKEEPER else own
                if len(own) < len(others):
                    guilty = others
                guilty = [p for p in guilty if p.number != GOALKEEPER]
                if guilty:
                    last = max(guilty, key=players.index)
                    group.discard(last)
                    yield last, FoulType.TOUCHING

    def _charging(
        self,
        stage: GameStage,
        pairs: dict[tuple[Player, Player], np.ndarray],
        places: dict[Player, np.ndarray],
        seconds: float,
    ) -> Iterator[tuple[Player, FoulType]]:
        ball, limits = stage.scene.ball, self._limits
        if ball is None:
            return
        for group in _groups(list(places), pairs):
            pair = sorted(group, key=list(places).index)
            if len(pair) != 2 or pair[0].side is pair[1].side:
                continue
            records = [self._records[player] for player in pair]
            if any(r.down > 0 or r.since_moved < 1.0 for r in records):
                continue
            a, b = (
                Runner(places[p][:2], r.velocity(seconds), self._is_immune(stage, p, r, places[p]))
                for p, r in zip(pair, records, strict=True)
            )
            index = charger((a, b), pairs[pair[0], pair[1]], ball.position[:2], limits)
            if index is None:
                for record in records:
                    record.since_other_contact = 0.0
            else:
                yield pair[index], FoulType.CHARGING

    def _is_immune(
        self, stage: GameStage, player: Player, record: _Record, place: np.ndarray
    ) -> bool:
        """Return whether a player may run into another one."""
        keeps = player.number == GOALKEEPER and stage.game.rules.in_area(player.side, *place[:2])
        recent = record.since_ball < self._limits.immunity
        return keeps or recent or record.since_other_contact < self._limits.quiet


def _contacts(
    stage: GameStage, places: dict[Player, np.ndarray]
) -> dict[tuple[Player, Player], np.ndarray]:
    """Return the pairs of players that touch, and where: x and y, m."""
    players, found = list(places), {}
    bodies: dict[Player, np.ndarray] = {}

    def points(player: Player) -> np.ndarray:
        if player not in bodies:
            robot = stage.scene.robots[player.robot]
            bodies[player] = stage.scene.positions[[body.id for body in robot.bodies.values()]]
        return bodies[player]

    for index, one in enumerate(players):
        for other in players[index + 1 :]:
            if math.dist(places[one], places[other]) < _REACH:
                a, b = points(one), points(other)
                away = np.linalg.norm(a[:, None] - b[None], axis=2)
                i, j = np.unravel_index(int(away.argmin()), away.shape)
                if away[i, j] < CONTACT:
                    found[one, other] = ((a[i] + b[j]) / 2)[:2]
    return found


def _groups(
    players: list[Player], pairs: dict[tuple[Player, Player], np.ndarray]
) -> list[set[Player]]:
    """Return sets of players that touch each other, directly or by others."""
    group_of = {player: {player} for player in players}
    for one, other in pairs:
        if group_of[one] is not group_of[other]:
            group_of[one] |= group_of[other]
            for player in group_of[other]:
                group_of[player] = group_of[one]
    return [g for g in {id(g): g for g in group_of.values()}.values() if len(g) > 1]


def _angle(a: np.ndarray, b: np.ndarray) -> float:
    """Return the angle between two vectors in the plane, degrees."""
    turn = math.atan2(a[1], a[0]) - math.atan2(b[1], b[0])
    return abs(math.degrees(math.remainder(turn, math.tau)))


def _unit(vector: np.ndarray) -> np.ndarray:
    length = math.hypot(*vector)
    return vector / length if length > 0 else vector


__all__ = ['CONTACT', 'Fouls', 'Limits', 'Runner', 'charger']
