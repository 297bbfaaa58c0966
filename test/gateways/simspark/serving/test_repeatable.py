# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A game is the same, percept by percept, however long its agents take to join."""

from contextlib import ExitStack
import time

from bundled_server import simulation
from simspark_client.clients import AgentClient

from test.gateways.running import simspark_at
from urlab_ros_bridge.gateways.simspark.agents.agent import AgentOptions
from urlab_ros_bridge.gateways.simspark.agents.agents import Agents
from urlab_ros_bridge.gateways.simspark.game.rules import KickOff
from urlab_ros_bridge.gateways.simspark.referee.referee import RefereeOptions
from urlab_ros_bridge.gateways.simspark.referee.referee import SoccerReferee

TEAMS, CYCLES = ('Ours', 'Theirs'), 130


def play(rpc_port, pauses):
    """Return all percepts of two agents that join after pauses, by team."""
    agents = Agents(AgentOptions(noise=True, seed=5))
    referee = SoccerReferee(RefereeOptions(kick_off=KickOff.parse('both')))
    heard, players = {team: [] for team in TEAMS}, {}
    with ExitStack() as stack:
        gateway = stack.enter_context(simspark_at(rpc_port, agents, referee, pace='free'))
        for team, pause in zip(TEAMS, pauses, strict=True):
            time.sleep(pause)
            player = AgentClient(port=gateway.agent_port, team=team, timeout=60)
            players[team] = stack.enter_context(player)
        for cycle in range(CYCLES):
            for team, player in players.items():
                heard[team].append(player.receive())
                player.act(
                    {'he1': 1.0 if cycle % 40 < 20 else -1.0, 'lle3': 0.2, 'rae1': 0.5},
                    *([['beam', -1.0, 0.1, 0.0]] if cycle == 3 else []),
                    *([['say', f'at{cycle}']] if cycle % 7 == 0 else []),
                )
    return heard


def test_a_game_twice_has_equal_percepts():
    games = []
    for pauses in ((0.0, 0.0), (0.3, 0.5)):
        with simulation('soccer', cameras='off') as port:  # live until the gateway takes it
            games.append(play(port, pauses))
    for team in TEAMS:
        first, second = (game[team] for game in games)
        for cycle in range(CYCLES):
            assert first[cycle] == second[cycle], cycle
        assert first[0] != first[-1] and b'KickOff_Left' in first[-1]
        assert any(b'(hear ' in text for text in first)
