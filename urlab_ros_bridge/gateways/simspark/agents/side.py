# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The agents' side of the gateway: a role that takes part in every cycle."""

from __future__ import annotations

from collections.abc import Mapping
import logging
import math
import time

import numpy as np

from urlab_ros_bridge.gateways.motion.target import Target
from urlab_ros_bridge.gateways.simspark.agents.agent import Agent
from urlab_ros_bridge.gateways.simspark.agents.agent import AgentCycle
from urlab_ros_bridge.gateways.simspark.agents.agent import PlayedRobot
from urlab_ros_bridge.gateways.simspark.agents.effectors import BeamEffector
from urlab_ros_bridge.gateways.simspark.agents.effectors import decode
from urlab_ros_bridge.gateways.simspark.agents.effectors import Effector
from urlab_ros_bridge.gateways.simspark.agents.effectors import InitEffector
from urlab_ros_bridge.gateways.simspark.agents.effectors import JointEffector
from urlab_ros_bridge.gateways.simspark.agents.effectors import SayEffector
from urlab_ros_bridge.gateways.simspark.agents.effectors import SceneEffector
from urlab_ros_bridge.gateways.simspark.agents.effectors import SynEffector
from urlab_ros_bridge.gateways.simspark.agents.field import has_field
from urlab_ros_bridge.gateways.simspark.agents.field import Landmarks
from urlab_ros_bridge.gateways.simspark.agents.frames import FixedFrame
from urlab_ros_bridge.gateways.simspark.agents.hearing import Hearing
from urlab_ros_bridge.gateways.simspark.agents.hearing import Shout
from urlab_ros_bridge.gateways.simspark.agents.options import AgentOptions
from urlab_ros_bridge.gateways.simspark.agents.vision import parts_of
from urlab_ros_bridge.gateways.simspark.agents.vision import SeenPlayer
from urlab_ros_bridge.gateways.simspark.errors import BadCommand
from urlab_ros_bridge.gateways.simspark.errors import SimSparkError
from urlab_ros_bridge.gateways.simspark.game.play_modes import BEFORE_KICK_OFF
from urlab_ros_bridge.gateways.simspark.game.players import Player
from urlab_ros_bridge.gateways.simspark.game.players import Side
from urlab_ros_bridge.gateways.simspark.tcp.connection import Connection
from urlab_ros_bridge.gateways.simspark.tcp.limited_log import LimitedLog
from urlab_ros_bridge.gateways.simspark.wire.expressions import Expression
from urlab_ros_bridge.gateways.simspark.world.roles import GameStage
from urlab_ros_bridge.gateways.simspark.world.scene import SimSparkScene
from urlab_ros_bridge.wire.errors import UnknownName

_LOG = logging.getLogger(__name__)

BEAM_MODES = frozenset({BEFORE_KICK_OFF, 'Goal_Left', 'Goal_Right'})
# A beamed robot falls by so much, m, and is off by at most so much, m and degrees.
BEAM_DROP = 0.015
BEAM_SPREAD = (0.05, 0.05, 10.0)


class Agents:
    """
    Serves agents; see `AgentSide`.

    What an agent sends wrongly is logged and changes nothing; the rest of its message counts.
    """

    def __init__(self, options: AgentOptions | None = None) -> None:
        self._options = options or AgentOptions()
        self._agents: dict[Connection, Agent] = {}
        self._hearing = Hearing()
        self._beams = np.random.default_rng(self._options.seed)
        self._log = LimitedLog(_LOG)
        self._stage: GameStage | None = None
        self._landmarks: Landmarks | None = None
        self._parts: dict[str, dict[str, FixedFrame]] = {}
        self._cycles = 0

    @property
    def is_waiting(self) -> bool:
        """Return whether an agent in sync mode has not sent (syn) since its last percepts."""
        return self._options.wait_for_syn and any(a.holds_up for a in self._agents.values())

    @property
    def is_joining(self) -> bool:
        """Return whether an agent is on its way into the game, and has not sent (syn) yet."""
        return any(agent.is_joining for agent in self._agents.values())

    def begin(self, stage: GameStage) -> None:
        """Take a world: agents keep their robots where these are in it too."""
        self._stage = stage
        self._landmarks = Landmarks(stage.game.rules, there=has_field(stage.scene))
        stage.game.roster.enlist(stage.scene.robots)
        self._parts = {name: parts_of(robot) for name, robot in stage.scene.robots.items()}
        for agent in self._agents.values():
            if agent.played is None:
                continue
            player = agent.played.player
            robot = stage.scene.robots.get(player.robot)
            if robot is None:
                self._lose(agent)
            else:
                before = agent.played
                agent.played = PlayedRobot(player, robot, stage.scene, self._options)
                agent.played.resume(before)

    def connected(self, connection: Connection) -> None:
        """Take a new client."""
        self._agents[connection] = Agent(connection)

    def disconnected(self, connection: Connection) -> None:
        """Forget a client; its robot stops, and the next agent may have it."""
        self._agents.pop(connection, None)

    def received(self, connection: Connection, expressions: list[Expression]) -> None:
        """Carry out the effectors of a message, each on its own."""
        agent = self._agents.get(connection)
        if agent is None or agent.gone:
            return
        for item in expressions:
            try:
                self._apply(agent, decode(item))
            except (SimSparkError, UnknownName) as error:
                self._log.warning('agent at %s: %s', connection.peer, error)

    def cycle(self, scene: SimSparkScene) -> Mapping[str, Target]:
        """Send percepts; return the setpoints of all robots that agents play."""
        stage, landmarks = self._stage, self._landmarks
        if stage is None or landmarks is None:
            return {}
        sees = self._cycles % self._options.vision_cycles == 0
        self._cycles += 1
        calls = self._hearing.calls()
        players = self._seen_players(stage) if sees else ()
        moment = AgentCycle(scene, stage.game, landmarks, players, calls, sees)
        targets = {}
        for agent in self._agents.values():
            if agent.created and not agent.gone:
                self._serve_agent(agent, moment)
                if agent.played is not None:
                    targets[agent.played.player.robot] = agent.played.targets(scene)
        return targets

    def _serve_agent(self, agent: Agent, moment: AgentCycle) -> None:
        game, played = moment.game, agent.played
        if played is not None and game.roster.of_robot(played.player.robot) != played.player:
            self._lose(agent)
            return
        if agent.holds_up and self._options.wait_for_syn:
            self._log.warning(
                'agent at %s sent no (syn) in time; closing its connection', agent.connection.peer
            )
            agent.gone = True
            agent.connection.close()
            return
        text = f'(time (now {moment.scene.time:.3f}))'
        text += agent.game_state(game, self._options.score)
        if played is not None:
            text += played.percepts(moment)
        agent.sent(agent.connection.send(text.encode('ascii')))

    def _apply(self, agent: Agent, effector: Effector) -> None:
        if isinstance(effector, SynEffector):
            agent.syncs = agent.synced = True
        elif isinstance(effector, SceneEffector):
            if not agent.created:
                agent.created, agent.begun = True, time.monotonic()
            agent.wanted = effector.file
        elif isinstance(effector, InitEffector):
            self._init(agent, effector)
        elif agent.played is None:
            raise BadCommand(f'{type(effector).__name__} before (init ...) assigned a robot')
        elif isinstance(effector, JointEffector):
            agent.played.move(effector)
        elif isinstance(effector, BeamEffector):
            self._beam(agent.played, effector)
        elif isinstance(effector, SayEffector):
            self._shout(agent.played, effector)
        # (pass) asks for a mode that this referee does not have.

    def _init(self, agent: Agent, effector: InitEffector) -> None:
        stage = self._stage
        if stage is None or not agent.created:
            raise BadCommand('init: (scene ...) comes first, in an earlier message')
        if agent.played is not None:
            raise BadCommand('init: the agent already has a robot')
        side = stage.game.side_of_team(effector.team)
        if side is None:
            teams = ' and '.join(stage.game.teams.values())
            raise BadCommand(
                f'init: team {effector.team!r} would be the third; {teams} are playing'
            )
        player = self._choose(stage, agent, side, effector.number)
        robot = stage.scene.robots[player.robot]
        agent.played = PlayedRobot(player, robot, stage.scene, self._options)
        _LOG.info('%s of %s is %s', player.number, effector.team, player.robot)

    def _choose(self, stage: GameStage, agent: Agent, side: Side, number: int) -> Player:
        """
        Return the player that an agent shall be.

        :raises BadCommand: when there is none that is free.
        """
        taken = {a.played.player for a in self._agents.values() if a.played is not None}
        roster = stage.game.roster
        if agent.wanted in stage.scene.robots:
            own = roster.of_robot(agent.wanted)
            if own is None or own in taken:
                raise BadCommand(f'init: the robot {agent.wanted!r} already has an agent')
            return own
        free = [each for each in roster.of_side(side) if each not in taken]
        for each in free:
            if number in (0, each.number) and each.robot in stage.scene.robots:
                return each
        numbers = ', '.join(str(each.number) for each in free) or 'none'
        raise BadCommand(f'init: number {number} of {side.value} is not free; free are: {numbers}')

    def _beam(self, played: PlayedRobot, effector: BeamEffector) -> None:
        stage = self._stage
        if stage is None or stage.game.play_mode not in BEAM_MODES:
            raise BadCommand(f'beam: only in {", ".join(sorted(BEAM_MODES))}')
        x, y, heading = effector.x, effector.y, effector.heading
        if self._options.noise:
            errors = self._beams.uniform(-1.0, 1.0, 3) * BEAM_SPREAD
            x, y, heading = x + errors[0], y + errors[1], heading + errors[2]
        rules = stage.game.rules
        x = min(max(x, -rules.half_length), 0.0)
        reach = rules.half_width + rules.border_size
        y = min(max(y, -reach), reach)
        turn = math.radians(math.fmod(heading, 360.0))
        if played.player.side is Side.RIGHT:
            x, y, turn = -x, -y, turn + math.pi
        height = played.rest_height + BEAM_DROP
        stage.placement.move_robot(played.player.robot, (x, y, height), turn)

    def _shout(self, played: PlayedRobot, effector: SayEffector) -> None:
        stage = self._stage
        if stage is not None:
            team = stage.game.teams[played.player.side]
            place = played.eye.place(stage.scene)
            self._hearing.say(Shout(played.player, team, effector.text, place))

    def _seen_players(self, stage: GameStage) -> list[SeenPlayer]:
        found = []
        for player in stage.game.roster:
            parts = self._parts.get(player.robot)
            if parts is None:
                continue
            team = stage.game.teams[player.side] or player.side.value
            points = np.array([frame.place(stage.scene) for frame in parts.values()])
            label = f'P (team {team}) (id {player.number})'
            found.append(SeenPlayer(player.robot, label, tuple(parts), points))
        return found

    def _lose(self, agent: Agent) -> None:
        """Leave an agent without its robot: connected and silent, as SimSpark does."""
        agent.played, agent.gone = None, True


__all__ = ['BEAM_MODES', 'Agents']
