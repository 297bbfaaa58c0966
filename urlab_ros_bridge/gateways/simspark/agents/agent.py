# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""One agent: from its connection to the robot that it plays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math
import time

import numpy as np

from urlab_ros_bridge.gateways.motion.target import Target
from urlab_ros_bridge.gateways.simspark.agents.body_sensors import BodySensors
from urlab_ros_bridge.gateways.simspark.agents.effectors import JointEffector
from urlab_ros_bridge.gateways.simspark.agents.field import Landmarks
from urlab_ros_bridge.gateways.simspark.agents.frames import body_frame
from urlab_ros_bridge.gateways.simspark.agents.hearing import RANGE
from urlab_ros_bridge.gateways.simspark.agents.hearing import Shout
from urlab_ros_bridge.gateways.simspark.agents.joints import JointControl
from urlab_ros_bridge.gateways.simspark.agents.options import AgentOptions
from urlab_ros_bridge.gateways.simspark.agents.vision import Eye
from urlab_ros_bridge.gateways.simspark.agents.vision import SeenPlayer
from urlab_ros_bridge.gateways.simspark.agents.vision import VisionNoise
from urlab_ros_bridge.gateways.simspark.game.players import Player
from urlab_ros_bridge.gateways.simspark.game.players import Side
from urlab_ros_bridge.gateways.simspark.game.state import GameState
from urlab_ros_bridge.gateways.simspark.tcp.connection import Connection
from urlab_ros_bridge.gateways.simspark.world.roles import CYCLE
from urlab_ros_bridge.gateways.simspark.world.scene import SimSparkScene
from urlab_ros_bridge.gateways.simulation.robot import ServedRobot

# A gateway later than this moves joints more slowly than commanded, s.
_LONGEST = 0.1
# An agent that has a robot and never sends (syn) has joined after so many percepts more.
_JOINING_PERCEPTS = 50
# What takes longer to join is no longer waited for, s.
_JOINING_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class AgentCycle:
    """
    What all agents perceive of one cycle.

    :ivar players: as they are seen; empty in cycles without vision (see `sees`).
    """

    scene: SimSparkScene
    game: GameState
    landmarks: Landmarks
    players: Sequence[SeenPlayer]
    calls: Sequence[Shout]
    sees: bool


class PlayedRobot:
    """
    The robot of an agent.

    :ivar player: which player it is.
    """

    def __init__(
        self, player: Player, robot: ServedRobot, scene: SimSparkScene, options: AgentOptions
    ) -> None:
        self.player = player
        self._robot = robot
        self._options = options
        self._base = body_frame(robot.base.id)
        noise = VisionNoise(options.seed, robot.prefix) if options.noise else None
        self.eye = Eye(robot, noise)
        self._sensors = BodySensors(robot)
        self._joints = JointControl(robot)
        self._time: float | None = None
        self._joints.start(scene.state(robot.prefix).qpos)

    @property
    def rest_height(self) -> float:
        """Return the height of the base in the reference configuration, m."""
        base = self._robot.base
        return base.pose.position[2]

    def resume(self, other: PlayedRobot) -> None:
        """Go on as the same robot of another world."""
        self._joints.resume(other._joints)

    def move(self, effector: JointEffector) -> None:
        """
        Set speeds of a joint.

        :raises UnknownName: when the robot has no such joint.
        :raises BadCommand: for the wrong number of speeds.
        """
        self._joints.command(effector.name, effector.speeds)

    def targets(self, scene: SimSparkScene) -> Target:
        """Return the setpoints of the next cycle."""
        passed = CYCLE if self._time is None else scene.time - self._time
        self._time = scene.time
        seconds = min(max(passed, CYCLE / 2), _LONGEST)
        return self._joints.advance(scene.state(self.player.robot).qpos, seconds)

    def percepts(self, moment: AgentCycle) -> str:
        """Return what only this robot perceives."""
        scene = moment.scene
        state = scene.state(self.player.robot)
        parts = [self._sensors.percepts(scene, state), self._joints.percepts(state.qpos)]
        if moment.sees:
            more = self._truth(scene) if self._options.ground_truth else ''
            parts.append(self.eye.see(scene, moment.landmarks, moment.players, more))
        parts += [self._heard(moment, call) for call in moment.calls]
        condition = moment.game.conditions.get(self.player.robot)
        if condition is not None:  # the Nao has no such perceptor until a trainer speaks of it
            state_of_it = f'(temp {condition.temperature:.0f}) (battery {condition.battery:.0f})'
            parts.append(f'(AgentState {state_of_it})')
        return ''.join(parts)

    def _heard(self, moment: AgentCycle, call: Shout) -> str:
        if call.player == self.player:
            way = 'self'
        else:
            if np.linalg.norm(call.place - self.eye.place(moment.scene)) > RANGE:
                return ''
            way = f'{self.eye.direction(moment.scene, call.place):.2f}'
        return f'(hear {call.team} {moment.game.time:.2f} {way} {call.text})'

    def _truth(self, scene: SimSparkScene) -> str:
        """Return place and heading as the own team counts them: towards positive x."""
        sign = 1 if self.player.side is Side.LEFT else -1
        place = self.eye.place(scene)
        forward = self._base.axes(scene)[:, 0] * sign
        heading = math.degrees(math.atan2(forward[1], forward[0]))
        x, y, z = place.tolist()
        text = f'(mypos {sign * x:.3f} {sign * y:.3f} {z:.3f}) (myorien {heading:.3f})'
        if scene.ball is not None:
            x, y, z = scene.ball.position.tolist()
            text += f' (ballpos {sign * x:.3f} {sign * y:.3f} {z:.3f})'
        return text


@dataclass(slots=True)
class Agent:
    """
    A client of the agents' port.

    :ivar created: whether it has sent (scene ...): it gets percepts from then on.
    :ivar wanted: robot that its scene names, '' for any.
    :ivar played: its robot, from (init ...) on.
    :ivar announced: whether GS has sent its number and side, `told` how many percepts have gone
        out since then.
    :ivar begun: when its scene came, by `time.monotonic`.
    :ivar syncs: whether it sends (syn); `synced` whether it has since the last percepts.
    """

    connection: Connection
    created: bool = False
    wanted: str = ''
    played: PlayedRobot | None = None
    announced: bool = False
    told: int = 0
    begun: float = 0.0
    gone: bool = False
    syncs: bool = False
    synced: bool = True

    @property
    def holds_up(self) -> bool:
        """Return whether its (syn) is due."""
        return self.syncs and not self.synced and not self.gone and self.connection.is_open

    @property
    def is_joining(self) -> bool:
        """Return whether it may not have read yet what it was told of its robot."""
        if self.syncs or not self.created or self.gone or not self.connection.is_open:
            return False
        recent = time.monotonic() - self.begun < _JOINING_SECONDS
        return recent and self.told < _JOINING_PERCEPTS

    def sent(self, on_the_way: bool) -> None:
        """Note what became of the percepts that `game_state` was part of."""
        self.synced = False
        # Of a client that does not keep up messages are dropped: it is told again.
        if on_the_way and self.played is not None:
            self.announced = True
            self.told += 1

    def game_state(self, game: GameState, with_score: bool) -> str:
        """Return GS; number and side come once."""
        parts = []
        if self.played is not None and not self.announced:
            player = self.played.player
            parts.append(f'(unum {player.number}) (team {player.side.value})')
        if with_score:
            parts.append(f'(sl {game.score[Side.LEFT]}) (sr {game.score[Side.RIGHT]})')
        parts.append(f'(t {game.time:.3f}) (pm {game.play_mode})')
        return f'(GS {" ".join(parts)})'


__all__ = ['Agent', 'AgentCycle', 'PlayedRobot']
