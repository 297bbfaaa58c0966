# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""One soccer world for all tests of agents."""

import pytest

from test.gateways.simspark.stage import SteppedWorld
from urlab_ros_bridge.gateways.simspark.agents.agent import AgentOptions
from urlab_ros_bridge.gateways.simspark.agents.agents import Agents


@pytest.fixture(scope='package')
def soccer():
    """Return a stepped world with one player a side."""
    world = SteppedWorld(world='soccer')
    yield world
    world.close()


@pytest.fixture
def play(soccer):
    """Return a function: options of agents -> a game that has just begun."""

    def begin(keyframe='', referee=None, by_joining=False, **options):
        options = {'vision_cycles': 1} | options
        return soccer.play(Agents(AgentOptions(**options)), referee, keyframe, by_joining)

    return begin


@pytest.fixture
def game(play):
    """Return a game that has just begun."""
    return play()


@pytest.fixture
def agent(game):
    """Return an agent that has joined the game."""
    return game.join()


@pytest.fixture
def home_game(play):
    """Return a game from the home position of the left player."""
    return play('left_1_home')


@pytest.fixture
def settled_agent(home_game):
    """Return an agent that has received percepts."""
    agent = home_game.join()
    home_game.cycles(2)
    return agent
