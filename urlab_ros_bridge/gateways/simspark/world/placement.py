# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Moves what a game may move: the ball and the robots."""

from __future__ import annotations

from collections.abc import Sequence

from urlab_ros_bridge.gateways.simspark.errors import BadCommand
from urlab_ros_bridge.gateways.simspark.world.scene import SimSparkScene
from urlab_ros_bridge.gateways.simulation.link import SimulationLink
from urlab_ros_bridge.geometry import quaternion_of_rpy
from urlab_ros_bridge.geometry import xyzw_to_wxyz

_STILL = (0.0, 0.0, 0.0)


class Teleporter:
    """
    Teleports ball and robots, at once; the next scene shows it.

    Everything is in the world, which is the field for both teams: m, m/s, rad.
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

        :param velocity: m/s; with it the ball spins no longer.
        :raises BadCommand: when the world has no ball.
        :raises UrlabError: when the server refuses.
        """
        ball = self._scene.ball
        if ball is None:
            raise BadCommand('this world has no ball: no free body whose name ends with "ball"')
        spin = None if velocity is None else _STILL
        if position is not None or velocity is not None:
            self._link.place(ball.name, pos=position, linear=velocity, angular=spin)

    def move_robot(
        self, robot: str, position: Sequence[float], heading: float | None = None
    ) -> None:
        """
        Bring the base of a robot to a place, and to a halt; its joints keep their angles.

        :param heading: of its forward axis x from the world's x, rad, and upright; None: it keeps
            its orientation.
        :raises BadCommand: when it is fixed, or not there.
        :raises UrlabError: when the server refuses.
        """
        self.place_robot(
            robot, position, None if heading is None else quaternion_of_rpy(0.0, 0.0, heading)
        )

    def place_robot(
        self, robot: str, position: Sequence[float], orientation: Sequence[float] | None
    ) -> None:
        """
        Bring the base of a robot to a pose, and to a halt.

        :param orientation: quaternion x y z w; None: it keeps its own.
        :raises BadCommand, UrlabError: as for `move_robot`.
        """
        self.check_movable(robot)
        quat = None if orientation is None else xyzw_to_wxyz(orientation)
        self._link.place(robot, pos=position, quat=quat, linear=_STILL, angular=_STILL)

    def remove_robot(self, robot: str) -> None:
        """
        Take a robot out of the world; the world changes, see `Role.begin`.

        :raises UrlabError: when the server refuses.
        """
        self._link.remove(robot)

    def is_movable(self, robot: str) -> bool:
        """Return whether a robot can be placed: it is there, and not fixed to the world."""
        model = self._scene.robots.get(robot)
        return model is not None and model.base_joint is not None

    def check_movable(self, robot: str) -> None:
        """
        Do nothing for a robot that can be placed.

        :raises BadCommand: when it is fixed to the world, or not there.
        """
        model = self._scene.robots.get(robot)
        if model is None:
            raise BadCommand(f'the world has no robot {robot!r}')
        if model.base_joint is None:
            raise BadCommand(f'the robot {robot!r} is fixed to the world')


__all__ = ['Teleporter']
