# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A game in one world: the scene, and the moves of ball and players that rules ask for."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import dataclass
import math

from urlab_ros_bridge.gateways.simspark.errors import BadCommand
from urlab_ros_bridge.gateways.simspark.game.players import MAX_NUMBER
from urlab_ros_bridge.gateways.simspark.game.players import Player
from urlab_ros_bridge.gateways.simspark.game.players import robot_number
from urlab_ros_bridge.gateways.simspark.game.players import Side
from urlab_ros_bridge.gateways.simspark.game.state import GameState
from urlab_ros_bridge.gateways.simspark.game.state import PLAY_ON
from urlab_ros_bridge.gateways.simspark.world.scene import SimSparkScene
from urlab_ros_bridge.gateways.simulation.link import SimulationLink
from urlab_ros_bridge.geometry import quaternion_of_rpy
from urlab_ros_bridge.geometry import xyzw_to_wxyz

# Simulated seconds from one cycle to the next.
CYCLE = 0.02
STILL = (0.0, 0.0, 0.0)
# Robots without an agent stand at this y, m: out of sight.
PARKING = -100.0
# Spacing of players that are sent off the field, and their distance from the side line, m.
_SPACING = 0.6
_BESIDE = 0.5
# Players are not put nearer to each other than this, m; steps to look for a free place.
_CLEARANCE = 0.5
_SHIFTS = (0, 1, -1, 2, -2, 3, -3, 4, -4)


class Teleporter:
    """
    Moves ball and robots at once; the next scene shows it.

    All values are in the world frame, which is the field's for both teams: m, m/s, rad.
    """

    def __init__(self, link: SimulationLink, scene: SimSparkScene) -> None:
        self._link = link
        self._scene = scene

    def move_ball(
        self,
        position: Sequence[float] | None = None,
        velocity: Sequence[float] | None = None,
    ) -> None:
        """
        Move the ball; what is None stays.

        :param velocity: m/s; it also ends the spin of the ball.
        :raises BadCommand: when the world has no ball.
        :raises UrlabError: when the server refuses.
        """
        ball = self._scene.ball
        if ball is None:
            raise BadCommand('this world has no ball: no free body whose name ends with "ball"')
        spin = None if velocity is None else STILL
        if position is not None or velocity is not None:
            self._link.commands.set_entity_state(
                ball.name, pos=position, linear=velocity, angular=spin
            )

    def move_robot(
        self, robot: str, position: Sequence[float], heading: float | None = None
    ) -> None:
        """
        Move the base of a robot and stop it; its joints keep their angles.

        :param heading: of its forward axis x from the world's x, rad, upright; None: it keeps its
            orientation.
        :raises BadCommand, UrlabError: as `place_robot`.
        """
        turn = None if heading is None else quaternion_of_rpy(0.0, 0.0, heading)
        self.place_robot(robot, position, turn)

    def place_robot(
        self, robot: str, position: Sequence[float], orientation: Sequence[float] | None
    ) -> None:
        """
        Set the pose of the base of a robot and stop it.

        :param orientation: quaternion x y z w; None: it keeps its own.
        :raises BadCommand: when it is fixed, or not there.
        :raises UrlabError: when the server refuses.
        """
        self.check_movable(robot)
        quat = None if orientation is None else xyzw_to_wxyz(orientation)
        self._link.commands.set_entity_state(
            robot, pos=position, quat=quat, linear=STILL, angular=STILL
        )
        self._scene.placed[robot] = position[0], position[1]

    def remove_robot(self, robot: str) -> None:
        """
        Delete a robot from the world, which changes the world: see `Role.begin`.

        :raises UrlabError: when the server refuses.
        """
        self._link.commands.delete_entity(robot)

    def is_movable(self, robot: str) -> bool:
        """Return whether a robot is there and not fixed to the world."""
        model = self._scene.robots.get(robot)
        return model is not None and model.base_joint is not None

    def check_movable(self, robot: str) -> None:
        """
        Check that a robot can be moved.

        :raises BadCommand: when it is fixed to the world, or not there.
        """
        if not self.is_movable(robot):
            there = robot in self._scene.robots
            reason = 'is fixed to the world' if there else 'is not in the world'
            raise BadCommand(f'the robot {robot!r} {reason}')


@dataclass(frozen=True, slots=True)
class GameStage:
    """
    A game in one world.

    :ivar game: outlives worlds.
    :ivar scene: of the current cycle; it changes with the next one.
    """

    game: GameState
    scene: SimSparkScene
    placement: Teleporter

    def drop_ball(self) -> None:
        """
        Let the ball rest where it is, on the field and outside the penalty areas; play on.

        All players near it are moved away.

        :raises BadCommand: when the world has no ball.
        :raises UrlabError: when the server refuses.
        """
        ball, rules = self.scene.ball, self.game.rules
        if ball is None:
            raise BadCommand('this world has no ball to drop')
        x = min(max(float(ball.position[0]), -rules.half_length), rules.half_length)
        y = min(max(float(ball.position[1]), -rules.half_width), rules.half_width)
        x, y = self.outside_areas(x, y)
        self.placement.move_ball((x, y, ball.radius), STILL)
        self.send_away((x, y), rules.free_kick_distance, self.game.roster)
        self.game.set_play_mode(PLAY_ON)

    def outside_areas(self, x: float, y: float) -> tuple[float, float]:
        """Return a place, or the front corner of the penalty area that it is in; m."""
        rules = self.game.rules
        for side in Side:
            if rules.in_area(side, x, y):
                front = side.sign * (rules.half_length - rules.penalty_length)
                return front, math.copysign(rules.penalty_half_width, y)
        return x, y

    def send_away(
        self, place: tuple[float, float], distance: float, players: Iterable[Player]
    ) -> None:
        """
        Move the players that are nearer to a place straight away from it.

        Those at the place itself move towards their own goal; none moves onto another player.
        Fixed robots stay.

        :param place: x and y, m; `distance` m.
        :raises UrlabError: when the server refuses.
        """
        for player in players:
            if not self.placement.is_movable(player.robot):
                continue
            x, y, z = self.base_position(player)
            away = x - place[0], y - place[1]
            length = math.hypot(*away)
            if length >= distance:
                continue
            if length < 1e-6:
                away, length = (float(player.side.sign), 0.0), 1.0
            direction = math.atan2(away[1], away[0])
            for shift in _SHIFTS:
                turn = direction + shift * _CLEARANCE / distance
                x, y = place[0] + distance * math.cos(turn), place[1] + distance * math.sin(turn)
                if self.is_free(player, x, y):
                    break
            self.placement.move_robot(player.robot, (x, y, z))

    def send_off(self, player: Player) -> None:
        """
        Put a player upright beside the field, in its own half, on the side away from the ball.

        :raises BadCommand: when its robot is fixed.
        :raises UrlabError: when the server refuses.
        """
        ball = self.scene.ball
        up = ball is None or ball.position[1] <= 0
        y = (self.game.rules.half_width + _BESIDE) * (1 if up else -1)
        # As in SimSpark, but 7 to 11 in their own half too, where no opponent may stand.
        place = 7 - player.number if player.number < 7 else player.number
        heading = math.copysign(math.pi / 2, -y)
        step = (0.0, math.copysign(_CLEARANCE, y))
        self._stand(player, player.side.sign * _SPACING * place, y, step, heading)

    def enter(self, player: Player) -> None:
        """
        Put a player upright at its start position, in its own half, facing the opponents.

        As in SimSpark, players stand in a row before their own goal line, 1.2 m apart.

        :raises UrlabError: when the server refuses.
        """
        rules, sign = self.game.rules, player.side.sign
        spacing = min(1.2, (rules.field_width - 1.6) / (MAX_NUMBER - 1))
        y = -sign * (rules.half_width - 0.8 - spacing * (player.number - 1))
        heading, step = 0.0 if sign < 0 else math.pi, (-sign * _CLEARANCE, 0.0)
        self._stand(player, sign * (rules.half_length - 0.8), y, step, heading)

    def _stand(
        self, player: Player, x: float, y: float, step: tuple[float, float], heading: float
    ) -> None:
        """Put a player upright at a place, or the first free one in steps from it."""
        for shift in range(len(_SHIFTS)):
            there = x + shift * step[0], y + shift * step[1]
            if self.is_free(player, *there):
                break
        self.placement.move_robot(player.robot, (*there, self.standing_height(player)), heading)

    def is_free(self, player: Player, x: float, y: float) -> bool:
        """Return whether no other player stands at a place, m."""
        for other in self.game.roster:
            if other.robot == player.robot or other.robot not in self.scene.robots:
                continue
            place = self.scene.placed.get(other.robot) or self.base_position(other)[:2]
            if math.dist(place, (x, y)) < _CLEARANCE:
                return False
        return True

    def remove(self, player: Player) -> None:
        """
        Take a player out of the game; unless robots play by joining, its robot is deleted.

        :raises UrlabError: when the server refuses.
        """
        if not (self.game.roster.by_joining and robot_number(player.robot)):
            self.placement.remove_robot(player.robot)
        self.game.leave(player)

    def park(self) -> list[str]:
        """
        Move the robots in reserve far away from the field, upright; return those moved.

        :raises UrlabError: when the server refuses.
        """
        moved = []
        for robot in self.game.roster.reserve:
            base = self.scene.robots[robot].base
            column = robot_number(robot) * (-1.0 if robot.startswith('left') else 1.0)
            x, y, _ = self.scene.positions[base.id].tolist()
            if math.hypot(x - column, y - PARKING) > 1.0 and self.placement.is_movable(robot):
                height = self.scene.world.reference_pose(base.id).position[2]
                self.placement.move_robot(robot, (column, PARKING, height), math.pi / 2)
                moved.append(robot)
        return moved

    def base_position(self, player: Player) -> tuple[float, float, float]:
        """Return where the base of a player is, m in the world."""
        x, y, z = self.scene.positions[self.scene.robots[player.robot].base.id].tolist()
        return x, y, z

    def standing_height(self, player: Player) -> float:
        """Return the height of a player's base in the reference pose of the world, m."""
        base = self.scene.robots[player.robot].base
        return self.scene.world.reference_pose(base.id).position[2]


__all__ = ['CYCLE', 'STILL', 'GameStage', 'Teleporter']
