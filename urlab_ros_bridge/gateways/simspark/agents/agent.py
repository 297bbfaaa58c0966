# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""One agent: from its connection to the robot that it plays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math
import time
from zlib import crc32

import numpy as np

from urlab_ros_bridge.gateways.motion.target import Target
from urlab_ros_bridge.gateways.simspark.agents.body_sensors import BodySensors
from urlab_ros_bridge.gateways.simspark.agents.frames import body_frame
from urlab_ros_bridge.gateways.simspark.agents.joints import JointControl
from urlab_ros_bridge.gateways.simspark.agents.vision import Eye
from urlab_ros_bridge.gateways.simspark.agents.vision import Landmarks
from urlab_ros_bridge.gateways.simspark.agents.vision import SeenPlayer
from urlab_ros_bridge.gateways.simspark.agents.vision import VisionNoise
from urlab_ros_bridge.gateways.simspark.connections import Connection
from urlab_ros_bridge.gateways.simspark.game.players import Player
from urlab_ros_bridge.gateways.simspark.game.players import Side
from urlab_ros_bridge.gateways.simspark.game.state import GameState
from urlab_ros_bridge.gateways.simspark.world.scene import SimSparkScene
from urlab_ros_bridge.gateways.simspark.world.stage import CYCLE
from urlab_ros_bridge.gateways.simulation.robot import ActuatedRobot

HEARING_RANGE = 50.0  # m
# After a longer cycle, joints move more slowly than commanded, s.
_LONGEST = 0.1
# An agent that has a robot and never sends (syn) has joined after this many percepts.
_JOINING_PERCEPTS = 50
# An agent that is silent while it joins, or while time stands still, gets percepts this often, s.
_SILENT_SECONDS = 1.0
# An agent that takes longer to join is no longer waited for, s.
_JOINING_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """
    Settings of the agents' side.

    :ivar vision_cycles: period of vision, in cycles.
    :ivar noise: whether vision and beams have the errors of the league, from `seed`.
    :ivar ground_truth: whether See has the agent's own position and heading, and the ball's.
    :ivar score: whether GS has the score.
    :ivar agent_state: whether AgentState is always sent, not only after a trainer has set it.
    :ivar wait_for_syn: whether the next cycle waits for the (syn) of agents that send it.
    """

    vision_cycles: int = 2
    noise: bool = False
    seed: int = 0
    ground_truth: bool = False
    score: bool = True
    agent_state: bool = False
    wait_for_syn: bool = True


@dataclass(frozen=True, slots=True)
class Shout:
    """
    A word said by a player.

    :ivar team: name of the team; `position` of the speaker, m.
    """

    player: Player
    team: str
    text: str
    position: np.ndarray


@dataclass(frozen=True, slots=True)
class AgentCycle:
    """
    What all agents perceive in one cycle.

    :ivar players: as others see them; empty in cycles without vision (see `sees`).
    """

    scene: SimSparkScene
    game: GameState
    landmarks: Landmarks
    players: Sequence[SeenPlayer]
    shouts: Sequence[Shout]
    sees: bool


class PlayedRobot:
    """
    The robot of an agent.

    :ivar player: which player it is.
    :ivar random: source of the errors of its beams, from the seed.
    """

    def __init__(
        self, player: Player, robot: ActuatedRobot, scene: SimSparkScene, options: AgentOptions
    ) -> None:
        self.player = player
        self._robot = robot
        self._options = options
        self._base = body_frame(robot.base.id)
        noise = VisionNoise(options.seed, robot.prefix) if options.noise else None
        self.eye = Eye(robot, noise)
        self.random = np.random.default_rng([options.seed, crc32(robot.prefix.encode()), 1])
        self._sensors = BodySensors(robot)
        speeds = {name: scene.fastest_speed(robot.prefix, name) for name in robot.joints}
        fastest = {name: speed for name, speed in speeds.items() if speed is not None}
        self._joints = JointControl(robot, fastest)
        self._time: float | None = None
        self._joints.start(scene.state(robot.prefix).qpos)

    @property
    def rest_height(self) -> float:
        """Return the height of the base in the reference configuration, m."""
        return self._robot.base.pose.position[2]

    def rest(self, qpos: np.ndarray) -> Target:
        """Return the setpoints that hold the joints of a configuration."""
        self._joints.start(qpos)
        return self._joints.advance(qpos)

    def resume(self, other: PlayedRobot) -> None:
        """Continue with the commands of the same robot in another world."""
        self._joints.resume(other._joints)

    def move(self, joint: str, speeds: Sequence[float]) -> None:
        """
        Set speeds of a joint, rad/s.

        :raises UnknownName: when the robot has no such joint.
        :raises BadCommand: for the wrong number of speeds.
        """
        self._joints.command(joint, speeds)

    def targets(self, scene: SimSparkScene) -> Target:
        """Return the setpoints of the next cycle."""
        passed = CYCLE if self._time is None else scene.time - self._time
        self._time = scene.time
        seconds = min(max(passed, CYCLE / 2), _LONGEST)
        return self._joints.advance(scene.state(self.player.robot).qpos, seconds)

    def percepts(self, current: AgentCycle) -> str:
        """Return the percepts of this robot alone."""
        scene = current.scene
        state = scene.state(self.player.robot)
        parts = [self._sensors.percepts(scene, state), self._joints.percepts(state.qpos)]
        if current.sees:
            truth = self._truth(scene) if self._options.ground_truth else ''
            parts.append(self.eye.see(scene, current.landmarks, current.players, truth))
        parts += [self._heard(current, shout) for shout in current.shouts]
        condition = current.game.conditions.get(self.player.robot)
        if condition is None and self._options.agent_state:
            condition = current.game.condition(self.player)
        if condition is not None:  # the Nao has no such perceptor until a trainer sets one
            values = f'(temp {condition.temperature:.0f}) (battery {condition.battery:.0f})'
            parts.append(f'(AgentState {values})')
        return ''.join(parts)

    def _heard(self, current: AgentCycle, shout: Shout) -> str:
        if shout.player == self.player:
            direction = 'self'
        else:
            distance = np.linalg.norm(shout.position - self.eye.position(current.scene))
            if distance > HEARING_RANGE:
                return ''
            direction = f'{self.eye.direction(current.scene, shout.position):.2f}'
        return f'(hear {shout.team} {current.game.time:.2f} {direction} {shout.text})'

    def _truth(self, scene: SimSparkScene) -> str:
        """Return position and heading in the axes of the own team: x towards its opponents."""
        sign = 1 if self.player.side is Side.LEFT else -1
        x, y, z = self.eye.position(scene).tolist()
        forward = self._base.axes(scene)[:, 0] * sign
        heading = math.degrees(math.atan2(forward[1], forward[0]))
        text = f'(mypos {sign * x:.3f} {sign * y:.3f} {z:.3f}) (myorien {heading:.3f})'
        if scene.ball is not None:
            x, y, z = scene.ball.position.tolist()
            text += f' (ballpos {sign * x:.3f} {sign * y:.3f} {z:.3f})'
        return text


@dataclass(slots=True)
class Agent:
    """
    A client of the agents' port.

    :ivar created: whether it has sent (scene ...): it receives percepts from then on.
    :ivar scene: name of the scene that it requested; `robot_type` the type of robot.
    :ivar played: its robot, from (init ...) on.
    :ivar announced: whether GS has sent its number and side; `answered` whether it has sent
        anything since then; `percepts_sent` the number of percepts since then.
    :ivar created_at: when its scene was received, by `time.monotonic`.
    :ivar is_removed: whether it has lost its robot: it stays connected and gets no percepts.
    :ivar syncs: whether it sends (syn); `synced` whether it has since the last percepts.
    :ivar heard: whether it has sent anything since the last percepts.
    :ivar silent_until: when it is served although it is silent, by `time.monotonic`.
    """

    connection: Connection
    created: bool = False
    scene: str = ''
    robot_type: int = 0
    played: PlayedRobot | None = None
    announced: bool = False
    answered: bool = False
    percepts_sent: int = 0
    created_at: float = 0.0
    is_removed: bool = False
    syncs: bool = False
    synced: bool = True
    heard: bool = False
    silent_until: float = 0.0

    @property
    def blocks_cycle(self) -> bool:
        """Return whether its (syn) is due."""
        waited_for = self.syncs and not self.synced and not self.is_removed
        return waited_for and self.connection.is_open

    @property
    def is_joining(self) -> bool:
        """Return whether it may not have read its number and side yet."""
        if self.syncs or not self.created or self.is_removed or not self.connection.is_open:
            return False
        recent = time.monotonic() - self.created_at < _JOINING_SECONDS
        return recent and self.percepts_sent < _JOINING_PERCEPTS

    @property
    def is_expecting(self) -> bool:
        """
        Return whether it is served in this cycle.

        Until it has answered the percepts with its number, an agent is served when it has sent
        something, and rarely while it is silent.  Percepts of every cycle would queue up while it
        starts: it would miss its number, and each (syn) would answer an older cycle from then on.
        """
        if self.answered or not self.is_joining:
            return True
        return self.heard or time.monotonic() >= self.silent_until

    @property
    def is_ready(self) -> bool:
        """Return whether it has answered the percepts with its number and side."""
        return self.played is not None and self.answered

    @property
    def is_due(self) -> bool:
        """
        Return whether it is served while time is frozen: after its messages, else rarely.

        One in sync mode waits once it has its number: it would beam itself and talk in answer to
        further percepts, and the start of a game would depend on how long it has waited.
        """
        served = self.created and not self.is_removed and not (self.syncs and self.announced)
        return served and time.monotonic() >= self.silent_until

    def create(self, scene: str, robot_type: int) -> None:
        """Request a robot."""
        if not self.created:
            self.created, self.created_at = True, time.monotonic()
        self.scene, self.robot_type = scene, robot_type
        self.silent_until = 0.0

    def remove(self) -> None:
        """Take its robot away; as in SimSpark, it stays connected."""
        self.played, self.is_removed = None, True

    def note_sent(self, sent: bool) -> None:
        """Note whether the percepts with `game_state` were sent or dropped."""
        self.synced, self.heard = not self.syncs, False
        self.silent_until = time.monotonic() + _SILENT_SECONDS
        # To a client that does not keep up, number and side are sent again.
        if sent and self.played is not None:
            self.announced = True
            self.percepts_sent += 1

    def game_state(self, game: GameState, with_score: bool) -> str:
        """Return GS, with number and side once."""
        parts = []
        if self.played is not None and not self.announced:
            player = self.played.player
            parts.append(f'(unum {player.number}) (team {player.side.value})')
        if with_score:
            parts.append(f'(sl {game.score[Side.LEFT]}) (sr {game.score[Side.RIGHT]})')
        parts.append(f'(t {game.time:.3f}) (pm {game.play_mode})')
        return f'(GS {" ".join(parts)})'


__all__ = ['Agent', 'AgentCycle', 'AgentOptions', 'PlayedRobot', 'Shout']
