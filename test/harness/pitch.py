# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A game whose world records how it is moved."""

from types import SimpleNamespace

import numpy as np

from urlab_ros_bridge.gateways.simspark.errors import BadCommand
from urlab_ros_bridge.gateways.simspark.game.state import GameState
from urlab_ros_bridge.gateways.simspark.trainer import Trainers
from urlab_ros_bridge.gateways.simspark.world.stage import GameStage

HEIGHT = 0.4


class Moves:
    """A placement that moves nothing."""

    def __init__(self, scene):
        self.calls, self._scene = [], scene

    def move_ball(self, position=None, velocity=None):
        if self._scene.ball is None:
            raise BadCommand('no ball')
        self.calls.append(('ball', position and list(position), velocity and list(velocity)))

    def move_robot(self, robot, position, heading=None):
        self.check_movable(robot)
        turn = None if heading is None else round(heading, 9)
        self.calls.append((robot, [round(v, 9) for v in position], turn))
        self._scene.placed[robot] = tuple(position[:2])

    def remove_robot(self, robot):
        self.calls.append(('remove', robot))

    def is_movable(self, robot):
        return robot != 'left_9'

    def check_movable(self, robot):
        if not self.is_movable(robot):
            raise BadCommand('it is fixed')


class Reply:
    """A connection that keeps what it is sent."""

    peer = 'trainer'

    def __init__(self):
        self.got = []

    def send(self, payload):
        self.got.append(payload)
        return True


class Pitch:
    """Players 1, 2 and 9 of the left (9 is fixed) and 1 of the right, each a body."""

    def __init__(self):
        self.game = GameState()
        self.game.roster.enlist(['left_1', 'left_2', 'left_9', 'right_1'])
        robots = {
            player.robot: SimpleNamespace(base=SimpleNamespace(id=index))
            for index, player in enumerate(self.game.roster)
        }
        standing = SimpleNamespace(position=(0.0, 0.0, HEIGHT))
        self.scene = SimpleNamespace(
            robots=robots,
            placed={},
            ball=SimpleNamespace(position=np.array([1.0, 2.0, 0.5]), radius=0.04),
            positions=np.array([[1.0, 1.5, 0.3], [9.0, 0.0, 0.3], [1.0, 2.0, 0.3], [1.0, 2, 0.3]]),
            world=SimpleNamespace(reference_pose=lambda body: standing),
        )
        self.moves, self.reply = Moves(self.scene), Reply()

    def trainers(self, kill=None):
        trainers = Trainers(SimpleNamespace(request_full_state=lambda: None), kill)
        trainers.begin(GameStage(self.game, self.scene, self.moves))
        return trainers

    def state(self):
        game = self.game
        return (
            game.time, game.half, game.play_mode, dict(game.score), game.selected,
            [player.robot for player in game.roster],
            {robot: (c.battery, c.temperature) for robot, c in game.conditions.items()},
            list(self.moves.calls), list(self.reply.got),
        )  # fmt: skip
