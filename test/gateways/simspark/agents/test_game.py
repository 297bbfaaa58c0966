# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Agents over TCP: the form of their messages, killed players, the end of a server."""

from concurrent.futures import ThreadPoolExecutor
import re
import socket

from bundled_server import simulation
import pytest
from simspark_client.clients import AgentClient
from simspark_client.clients import MonitorClient
from simspark_client.clients import NotAdmitted
from simspark_client.clients import ServerGone
from waiting import wait_until

from test.gateways.running import simspark_at
from urlab_ros_bridge.gateways.simspark.agents.agent import AgentOptions
from urlab_ros_bridge.gateways.simspark.agents.agents import Agents
from urlab_ros_bridge.gateways.simspark.referee.referee import SoccerReferee
from urlab_ros_bridge.gateways.simspark.wire.framing import frame


@pytest.fixture(scope='module')
def field():
    with simulation('soccer', cameras='off') as port:
        yield port


@pytest.fixture
def served(field):
    """Run a gateway in front of the soccer world."""
    agents = Agents(AgentOptions(ground_truth=True))
    options = {'pace': 'real_time', 'players': 'all'}
    with simspark_at(field, agents, SoccerReferee(), **options) as gateway:
        yield gateway


def shape(text):
    """Return a message with '#' for each number."""
    return re.sub(r'-?\d+\.\d{3}', '#', text)


def test_the_messages_have_the_form_that_stock_agents_read(served):
    hinges = ['hj1', 'hj2']
    hinges += [f'{side}aj{i}' for side in 'lr' for i in range(1, 5)]
    hinges += [f'{side}lj{i}' for side in 'lr' for i in range(1, 7)]
    joints = ''.join(f'(HJ (n {name}) (ax #))' for name in hinges)
    body = (
        '(GYR (n torso) (rt # # #))(ACC (n torso) (a # # #))'
        '(FRP (n lf) (c # # #) (f # # #))(FRP (n rf) (c # # #) (f # # #))'
    )
    points = ['F1R', 'F2R', 'G1R', 'G2R', 'B']
    see = '(See ' + ' '.join(f'({name} (pol # # #))' for name in points)
    parts = ('head', 'rlowerarm', 'llowerarm', 'rfoot', 'lfoot')
    see += ' (P (team right) (id 1) ' + ' '.join(f'({p} (pol # # #))' for p in parts) + ')'
    see += ' (L (pol # # #) (pol # # #))' * 13
    see += ' (mypos # # #) (myorien #) (ballpos # # #))'
    with AgentClient(port=served.agent_port, team='Ours') as agent:
        texts = []
        for _ in range(2):
            texts.append(agent.receive().decode())
            agent.act()
    for text in texts:
        game = '(time (now #))(GS (sl 0) (sr 0) (t #) (pm BeforeKickOff))'
        assert shape(text) in (game + body + joints, game + body + joints + see)
    assert any('(See ' in text for text in texts)
    # No exponent, plus sign or other form of a number; no blank after a parenthesis.
    assert '( ' not in ''.join(texts) and max(map(len, texts)) < 8192


def test_an_agent_without_a_number_is_told_so():
    """By a server that sends percepts and no number."""
    with socket.create_server(('127.0.0.1', 0)) as listening, ThreadPoolExecutor(1) as pool:
        joining = pool.submit(AgentClient, port=listening.getsockname()[1], team='Ours')
        with listening.accept()[0] as link:
            link.sendall(200 * frame(b'(time (now 0.00))'))
            with pytest.raises(NotAdmitted, match="'Ours'"):
                joining.result()


def test_an_agent_notices_that_the_server_has_ended(served):
    with AgentClient(port=served.agent_port, team='Theirs', sync=False) as agent:
        served.stop()

        def go_on():
            while True:
                agent.perceive()

        with pytest.raises(ServerGone):
            go_on()


def test_a_player_that_a_trainer_kills_is_silent_and_the_others_go_on(served):
    with (
        AgentClient(port=served.agent_port, team='Ours', sync=False),
        AgentClient(port=served.agent_port, team='Theirs') as other,
        MonitorClient(port=served.monitor_port) as monitor,
    ):

        def teams():
            other.act({'he1': 0.5})
            seen = other.perceive().seen
            return ['Ours'] if seen is None else [player.team for player in seen.players]

        monitor.send(['kill', ['unum', 1], ['team', 'Left']])
        wait_until(lambda: 'Ours' not in teams(), every=0)
        before = other.percepts.joints['hj1']
        for _ in range(10):
            other.act()
            other.perceive()
        # The same robot, in the world that has one less.
        assert other.percepts.joints['hj1'] == pytest.approx(before + 5.7, abs=1.5)
