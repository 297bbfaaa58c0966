# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The agents' side of the gateway: a role that takes part in every cycle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from collections.abc import Mapping
import logging
import math

import numpy as np

from urlab_ros_bridge.gateways.motion.target import Target
from urlab_ros_bridge.gateways.simspark.agents.agent import Agent
from urlab_ros_bridge.gateways.simspark.agents.agent import AgentCycle
from urlab_ros_bridge.gateways.simspark.agents.agent import AgentOptions
from urlab_ros_bridge.gateways.simspark.agents.agent import PlayedRobot
from urlab_ros_bridge.gateways.simspark.agents.agent import Shout
from urlab_ros_bridge.gateways.simspark.agents.effectors import decode
from urlab_ros_bridge.gateways.simspark.agents.effectors import Effector
from urlab_ros_bridge.gateways.simspark.agents.frames import FixedFrame
from urlab_ros_bridge.gateways.simspark.agents.vision import Landmarks
from urlab_ros_bridge.gateways.simspark.agents.vision import parts_of
from urlab_ros_bridge.gateways.simspark.agents.vision import SeenPlayer
from urlab_ros_bridge.gateways.simspark.connections import Connection
from urlab_ros_bridge.gateways.simspark.errors import BadCommand
from urlab_ros_bridge.gateways.simspark.errors import SimSparkError
from urlab_ros_bridge.gateways.simspark.game.players import MAX_NUMBER
from urlab_ros_bridge.gateways.simspark.game.players import Player
from urlab_ros_bridge.gateways.simspark.game.players import Side
from urlab_ros_bridge.gateways.simspark.game.state import BEFORE_KICK_OFF
from urlab_ros_bridge.gateways.simspark.wire.expressions import Expression
from urlab_ros_bridge.gateways.simspark.world.scene import SimSparkScene
from urlab_ros_bridge.gateways.simspark.world.stage import GameStage
from urlab_ros_bridge.limited_log import LimitedLog
from urlab_ros_bridge.wire.errors import UnknownName
from urlab_ros_bridge.wire.errors import UrlabError

_LOG = logging.getLogger(__name__)

BEAM_MODES = frozenset({BEFORE_KICK_OFF, 'Goal_Left', 'Goal_Right'})
# A beamed robot falls by this much, m, and is off by at most this much, m and degrees.
BEAM_DROP = 0.015
BEAM_SPREAD = (0.05, 0.05, 10.0)
# Each team is heard once per this many cycles.
SAY_CYCLES = 2


class Agents:
    """
    Serves the clients of the agents' port; all methods are called in the thread of the cycle.

    An invalid effector is logged and changes nothing; the rest of its message counts.
    """

    speaks_first = True  # its (scene)

    def __init__(self, options: AgentOptions | None = None) -> None:
        self._options = options or AgentOptions()
        self._agents: dict[Connection, Agent] = {}
        self._log = LimitedLog(_LOG)
        self._stage: GameStage | None = None
        self._landmarks = Landmarks()
        self._parts: dict[str, dict[str, FixedFrame]] = {}
        self._cycles = 0
        self._home: dict[str, np.ndarray] = {}
        self._shouts: list[Shout] = []
        self._last_shout: dict[Side, tuple[int, int]] = {}

    @property
    def ready(self) -> Counter[Side]:
        """Return how many agents of each side have joined and answered."""
        return Counter(a.played.player.side for a in self._agents.values()
                       if a.played is not None and a.is_ready)  # fmt: skip

    @property
    def is_waiting(self) -> bool:
        """Return whether an agent in sync mode has not sent (syn) since its last percepts."""
        return self._options.wait_for_syn and any(a.blocks_cycle for a in self._agents.values())

    @property
    def is_joining(self) -> bool:
        """Return whether an agent is joining the game, and has not sent (syn) yet."""
        return any(agent.is_joining for agent in self._agents.values())

    def begin(self, stage: GameStage) -> None:
        """Start with a world; agents keep their robots if these are in it too."""
        self._stage = stage
        self._landmarks = Landmarks(stage.game.rules if stage.scene.has_field else None)
        stage.game.roster.enlist(stage.scene.robots)
        for name in stage.game.roster.waiting:
            self._home.setdefault(name, stage.scene.state(name).qpos.copy())
        self._parts = {name: parts_of(robot) for name, robot in stage.scene.robots.items()}
        for agent in self._agents.values():
            if agent.played is None:
                continue
            before, robot = agent.played, stage.scene.robots.get(agent.played.player.robot)
            if robot is None:
                agent.remove()
            else:
                agent.played = PlayedRobot(before.player, robot, stage.scene, self._options)
                agent.played.resume(before)

    def connected(self, connection: Connection) -> None:
        """Register a new client."""
        self._agents[connection] = Agent(connection)

    def disconnected(self, connection: Connection) -> None:
        """Forget a client; its robot stops, or leaves the field, and another agent may take it."""
        agent, stage = self._agents.pop(connection, None), self._stage
        if agent is None or agent.played is None or stage is None:
            return
        if agent.played.player.robot in stage.game.roster.waiting:
            stage.game.leave(agent.played.player)

    def received(self, connection: Connection, expressions: list[Expression]) -> Iterator[None]:
        """Execute the effectors of a message, each by itself."""
        agent = self._agents.get(connection)
        if agent is not None:
            agent.heard = True
            agent.answered = agent.answered or agent.announced
        for item in expressions:
            if agent is None or agent.is_removed:
                break
            try:
                self._apply(agent, decode(item))
            except (SimSparkError, UnknownName) as error:
                self._log.warning('agent at %s: %s', connection.peer, error)
        return iter(())

    def cycle(self, scene: SimSparkScene) -> Mapping[str, Target]:
        """Send percepts; return the setpoints of all robots that agents play."""
        stage = self._stage
        if stage is None:
            return {}
        targets = self._park(stage)
        sees = self._cycles % self._options.vision_cycles == 0
        self._cycles += 1
        current = self._perceive(stage, sees)
        for agent in self._agents.values():
            if agent.created and not agent.is_removed:
                if agent.is_expecting:
                    self._serve_agent(agent, current)
                if agent.played is not None:
                    targets[agent.played.player.robot] = agent.played.targets(scene)
        return targets

    def on_time_frozen(self, scene: SimSparkScene) -> None:
        """
        Send percepts to agents that join while time is frozen.

        Each gets them after its (scene) and its (init); then, as nothing happens, rarely.
        """
        stage = self._stage
        due = [agent for agent in self._agents.values() if agent.is_due]
        if stage is not None:
            self._park(stage)
            current = self._perceive(stage, sees=True)
            for agent in due:
                self._serve_agent(agent, current)

    def _perceive(self, stage: GameStage, sees: bool) -> AgentCycle:
        shouts, players = self._heard_shouts(), self._seen_players(stage) if sees else ()
        return AgentCycle(stage.scene, stage.game, self._landmarks, players, shouts, sees)

    def _park(self, stage: GameStage) -> dict[str, Target]:
        """Move robots without an agent off the field; return setpoints of their home position."""
        targets = {}
        for robot in stage.park():
            model = stage.scene.robots[robot]
            resting = PlayedRobot(Player(Side.LEFT, 0, robot), model, stage.scene, self._options)
            targets[robot] = resting.rest(self._home[robot])
        return targets

    def _serve_agent(self, agent: Agent, current: AgentCycle) -> None:
        game, played = current.game, agent.played
        if played is not None and game.roster.of_robot(played.player.robot) != played.player:
            agent.remove()
            return
        if agent.blocks_cycle and self._options.wait_for_syn:
            self._log.warning(
                'agent at %s sent no (syn) in time; closing its connection', agent.connection.peer
            )
            agent.remove()
            agent.connection.close()
            return
        text = f'(time (now {current.scene.time:.3f}))'
        text += agent.game_state(game, self._options.score)
        if played is not None:
            text += played.percepts(current)
        agent.note_sent(agent.connection.send(text.encode('ascii')))

    def _apply(self, agent: Agent, effector: Effector) -> None:
        kind, played = effector.kind, agent.played
        if kind == 'syn':
            agent.syncs = agent.synced = True
        elif kind == 'scene':
            agent.create(effector.name, int(effector.values[0]))
        elif kind == 'init':
            self._init(agent, effector.name, int(effector.values[0]))
        elif played is None:
            raise BadCommand(f'{kind} before (init ...) assigned a robot')
        elif kind == 'joint':
            played.move(effector.name, effector.values)
        elif kind == 'beam':
            self._beam(played, *effector.values)
        elif kind == 'say':
            self._say(played, effector.name)
        elif kind == 'pass' and self._stage is not None:
            self._stage.game.pass_requests.add(played.player)

    def _init(self, agent: Agent, team: str, number: int) -> None:
        stage = self._stage
        if stage is None or not agent.created:
            raise BadCommand('init: (scene ...) comes first, in an earlier message')
        if agent.played is not None:
            raise BadCommand('init: the agent already has a robot')
        side = stage.game.side_of_team(team)
        if side is None:
            teams = ' and '.join(stage.game.teams.values())
            raise BadCommand(f'init: team {team!r} would be the third; {teams} are playing')
        player = self._choose(stage, agent, side, number)
        kind = stage.scene.nao_type(player.robot)
        if kind not in (None, agent.robot_type) and agent.scene != player.robot:
            self._log.warning(
                'agent at %s: no robot of type %d of the Nao is free in the %s team, it gets one '
                'of type %d (urlab soccer --types chooses them)',
                agent.connection.peer, agent.robot_type, side.value, kind,
            )  # fmt: skip
        robot = stage.scene.robots[player.robot]
        agent.played = PlayedRobot(player, robot, stage.scene, self._options)
        agent.silent_until = 0.0
        stage.game.teams[side] = team  # a refused agent leaves nothing behind
        _LOG.info('%s of %s is %s', player.number, team, player.robot)

    def _choose(self, stage: GameStage, agent: Agent, side: Side, number: int) -> Player:
        """
        Return a free player for an agent.

        :raises BadCommand: when there is none.
        """
        taken = {a.played.player for a in self._agents.values() if a.played is not None}
        roster = stage.game.roster
        if roster.by_joining:
            return self._join(stage, agent, side, number)
        if agent.scene in stage.scene.robots:
            own = roster.of_robot(agent.scene)
            if own is None or own in taken:
                raise BadCommand(f'init: the robot {agent.scene!r} already has an agent')
            return own
        free = [each for each in roster.of_side(side) if each not in taken]
        for each in free:
            if number in (0, each.number) and each.robot in stage.scene.robots:
                return each
        numbers = ', '.join(str(each.number) for each in free) or 'none'
        raise BadCommand(f'init: number {number} of {side.value} is not free; free are: {numbers}')

    def _join(self, stage: GameStage, agent: Agent, side: Side, number: int) -> Player:
        """
        Make a robot in reserve, of the requested type if there is one, a player.

        :raises BadCommand: when the number is taken, or no robot is left.
        """
        roster = stage.game.roster
        chosen = number or roster.free_number(side) or 0
        robots = roster.substitutes(side, chosen)
        fitting = [r for r in robots if (stage.scene.nao_type(r) or 0) == agent.robot_type]
        if agent.scene in roster.reserve:
            robots = [agent.scene]
        elif fitting:
            robots = fitting
        player = roster.add(side, chosen, robots[0]) if robots else None
        if player is None:
            taken = ', '.join(str(each.number) for each in roster.of_side(side)) or 'none'
            raise BadCommand(
                f'init: number {chosen} of {side.value} is not free; taken are: {taken}; robots '
                f'left: {len(robots)}'
            )
        try:
            stage.enter(player)
        except UrlabError:
            stage.game.leave(player)
            raise
        return player

    def _beam(self, played: PlayedRobot, x: float, y: float, heading: float) -> None:
        stage = self._stage
        if stage is None or stage.game.play_mode not in BEAM_MODES:
            raise BadCommand(f'beam: only in {", ".join(sorted(BEAM_MODES))}')
        if self._options.noise:
            errors = played.random.uniform(-1.0, 1.0, 3) * BEAM_SPREAD
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

    def _say(self, played: PlayedRobot, text: str) -> None:
        stage = self._stage
        if stage is not None:
            place, team = played.eye.position(stage.scene), stage.game.teams[played.player.side]
            self._shouts.append(Shout(played.player, team, text, place))

    def _heard_shouts(self) -> list[Shout]:
        """
        Return the shouts of this cycle: one per team in two cycles, from each player in turn.

        The choice does not depend on the order in which messages arrive.
        """
        heard = []
        for side in Side:
            cycle, number = self._last_shout.get(side, (-SAY_CYCLES, 0))
            shouts = [shout for shout in self._shouts if shout.player.side is side]
            if shouts and self._cycles - cycle >= SAY_CYCLES:
                after = [(s.player.number - number - 1) % MAX_NUMBER for s in shouts]
                turn = shouts[after.index(min(after))]
                self._last_shout[side] = self._cycles, turn.player.number
                heard.append(turn)
        self._shouts.clear()
        return heard

    def _seen_players(self, stage: GameStage) -> list[SeenPlayer]:
        found = []
        for player in stage.game.roster:
            parts = self._parts.get(player.robot)
            if parts is None:
                continue
            team = stage.game.teams[player.side] or player.side.value
            points = np.array([frame.position(stage.scene) for frame in parts.values()])
            label = f'P (team {team}) (id {player.number})'
            found.append(SeenPlayer(player.robot, label, tuple(parts), points))
        return found


__all__ = ['BEAM_MODES', 'Agents']
