# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Agents from joining to leaving: robots, beams, calls, sync mode."""

import math
import time

import numpy as np
import pytest
from simspark_client.percepts import read_percepts

from test.gateways.simspark.stage import FakeConnection
from test.gateways.simspark.stage import SteppedWorld
from urlab_ros_bridge.gateways.simspark.agents import agent as agent_module
from urlab_ros_bridge.gateways.simspark.agents.agent import AgentOptions
from urlab_ros_bridge.gateways.simspark.agents.agents import Agents
from urlab_ros_bridge.gateways.simspark.game.players import Side
from urlab_ros_bridge.models.soccer import write_world
from urlab_ros_bridge.wire.errors import UrlabError


def place_of(soccer, robot):
    return soccer.data.body(f'{robot}_base_link').xpos


def refuse(*_):
    raise UrlabError('the server refuses')


def heading_of(soccer, robot):
    x, y = soccer.data.body(f'{robot}_base_link').xmat.reshape(3, 3)[:2, 0]
    return math.degrees(math.atan2(y, x))


def test_number_and_side_are_in_the_first_percepts_that_can_be_sent(game, agent):
    agent.is_clear = False  # it has not read what came before
    game.cycles(3)
    agent.is_clear = True
    game.cycles(1)
    assert '(GS (unum 1) (team left) (sl 0)' in agent.text
    game.cycles(1)
    assert 'unum' not in agent.text


def test_an_agent_joins_from_its_scene_to_its_first_syn_or_fifty_percepts(play, monkeypatch):
    monkeypatch.setattr(agent_module, '_JOINING_SECONDS', 1e6)  # however busy the machine is
    game = play()
    agent, silent = FakeConnection(), FakeConnection()
    game.agents.connected(silent)  # says nothing, and holds nobody up
    game.agents.connected(agent)
    assert not game.agents.is_joining
    game.send(agent, '(scene nao.rsg)')
    game.cycles(1)
    assert game.agents.is_joining
    game.send(agent, '(init (unum 0)(teamname Ours))')
    game.cycles(2)
    assert game.agents.is_joining and not game.agents.is_waiting
    game.send(agent, '(syn)')
    game.cycles(1)
    assert game.agents.is_waiting and not game.agents.is_joining
    game.agents.disconnected(agent)
    late = game.join()
    game.cycles(49)
    assert game.agents.is_joining
    game.cycles(1)
    assert not game.agents.is_joining
    game.agents.disconnected(late)
    gone = game.join()
    gone.is_open = False
    assert not game.agents.is_joining


def test_percepts_answer_the_messages_of_an_agent_that_joins(play, monkeypatch):
    now = time.monotonic()
    monkeypatch.setattr(time, 'monotonic', lambda: now)
    game = play()
    agent, silent = FakeConnection(), FakeConnection()
    game.agents.connected(agent)
    for text in ('(scene nao.rsg)', '(init (unum 1)(teamname Ours))', '(syn)'):
        game.send(agent, text)
        game.cycles(3 if text != '(syn)' else 1)
    assert [read_percepts(each).number for each in agent.sent] == [None, 1, None]
    game.agents.connected(silent)
    game.send(silent, '(scene nao.rsg)')
    for count, later in ((1, 0.0), (2, 1.1), (3, 2.2), (6, 11.0)):
        monkeypatch.setattr(time, 'monotonic', lambda later=later: now + later)
        assert game.agents.is_joining == (later < 10)
        game.send(agent, '(syn)')
        game.cycles(3 if later == 11.0 else 1)
        assert len(silent.sent) == count
    game.send(silent, '(scene nao.rsg)')  # again: it is no newcomer
    assert not game.agents.is_joining


def test_while_time_is_frozen_an_agent_in_sync_mode_gets_nothing_after_its_number(
    play, monkeypatch
):
    now = time.monotonic()
    game = play()
    agents = {end: FakeConnection() for end in ('(syn)', '')}
    for later, text in ((0, '(scene nao.rsg)'), (0, '(init (unum 1)(teamname {}))'), (0, ''),
                        (1.1, ''), (2.2, '')):  # fmt: skip
        monkeypatch.setattr(time, 'monotonic', lambda later=later: now + later)
        for end, agent in agents.items():
            if text == '(scene nao.rsg)':
                game.agents.connected(agent)
            game.send(agent, text.format(f'team{len(end)}') + end)
        game.agents.on_time_frozen(game.world.scene)
    assert [len(agent.sent) for agent in agents.values()] == [2, 4]
    assert [read_percepts(agent.sent[1]).number for agent in agents.values()] == [1, 1]


def test_init_before_scene_is_refused_and_in_one_message_with_it_is_not(game, caplog):
    connection = FakeConnection()
    game.agents.connected(connection)
    game.send(connection, '(init (unum 1)(teamname Ours))')
    assert 'comes first' in caplog.text
    game.send(connection, '(scene x)(init (unum 1)(teamname Ours))')
    game.cycles(1)
    assert connection.percepts.number == 1


def test_the_first_team_is_left_the_second_right_a_third_gets_nothing(game, caplog):
    agents = [game.join(team) for team in ('A', 'B', 'C')]
    game.send(agents[0], '(init (unum 1)(teamname B))')  # a second one changes nothing
    game.cycles(1)
    found = [(agent.percepts.side, agent.percepts.number) for agent in agents]
    assert found == [('left', 1), ('right', 1), ('', None)]
    assert "'C'" in caplog.text
    assert not agents[2].percepts.joints and agents[2].percepts.time > 0


@pytest.mark.parametrize('by_joining', [False, True])
def test_a_refused_agent_leaves_neither_the_name_of_its_team_nor_a_player(
    play, by_joining, monkeypatch
):
    game = play(by_joining=by_joining)
    players = list(game.state.roster)
    if by_joining:
        with monkeypatch.context() as patch:
            patch.setattr(type(game.stage.placement), 'move_robot', refuse)
            with pytest.raises(UrlabError):
                game.join('Typo')
    else:
        game.join('Typo', 9)  # there is only number 1
    assert not any(game.state.teams.values()) and list(game.state.roster) == players
    agents = [game.join(team) for team in ('Ours', 'Theirs')]
    game.cycles(1)
    assert [agent.percepts.side for agent in agents] == ['left', 'right']


@pytest.mark.parametrize('number', [1, 0])
def test_a_number_is_unique_and_free_again_after_its_agent(game, number):
    first, second = game.join('A', 1), game.join('A', number)
    game.cycles(1)
    assert second.percepts.number is None
    game.agents.disconnected(first)
    game.send(second, '(init (unum 1)(teamname A))')
    game.cycles(1)
    assert second.percepts.number == 1


def test_a_scene_that_names_a_robot_gets_that_one(game):
    agent = game.join('A', 7, scene='right_1')
    game.send(agent, '(he1 1)')
    game.cycles(1)
    assert set(game.targets) == {'right_1'}


@pytest.mark.parametrize('by_joining', [False, True])
def test_a_robot_that_is_killed_leaves_its_agent_connected_and_silent(play, soccer, by_joining):
    game = play(by_joining=by_joining)
    agent = game.join()
    game.cycles(3)
    player = game.state.roster.find(Side.LEFT, 1)
    game.stage.remove(player) if by_joining else game.state.leave(player)
    count = len(agent.sent)
    game.cycles(3)
    game.send(agent, '(he1 1)(beam -1 0 0)')
    game.cycles(1)
    assert len(agent.sent) == count and agent.is_open
    assert game.state.roster.find(Side.LEFT, 1) is None
    assert (abs(place_of(soccer, 'left_1')[1]) > 50) == by_joining  # off the field


def test_beams_are_mirrored_for_the_right_team(play, soccer):
    game = play('left_1_home')
    left, right = game.join(), game.join('B')
    game.send(left, '(beam -3 2 30)')
    game.send(right, '(beam -3 2 30)')
    game.cycles(1)
    np.testing.assert_allclose(place_of(soccer, 'left_1'), [-3, 2, 0.4], atol=0.01)
    np.testing.assert_allclose(place_of(soccer, 'right_1')[:2], [3, -2], atol=0.01)
    assert heading_of(soccer, 'left_1') == pytest.approx(30, abs=0.5)
    assert heading_of(soccer, 'right_1') == pytest.approx(-150, abs=0.5)
    game.cycles(40)
    assert soccer.data.body('left_1_base_link').xmat[8] > 0.99


@pytest.mark.parametrize(
    ('mode', 'asked', 'got'),
    [
        ('BeforeKickOff', '3 0', (0, 0)),
        ('Goal_Left', '-99 99', (-9, 8)),
        ('Goal_Right', '-1 -99', (-1, -8)),
        ('PlayOn', '-5 -3', None),
        ('KickOff_Left', '-5 -3', None),
    ],
)
def test_beams_are_for_before_a_kick_off_and_end_in_the_own_half(
    game, agent, soccer, mode, asked, got
):
    game.state.set_play_mode(mode)
    before = place_of(soccer, 'left_1')[:2].copy()
    game.send(agent, f'(beam {asked} 0)')
    game.cycles(1)
    wanted = before if got is None else got
    np.testing.assert_allclose(place_of(soccer, 'left_1')[:2], wanted, atol=0.02)


def test_bad_effectors_change_nothing_and_the_rest_of_a_message_counts(
    game, agent, soccer, caplog
):
    game.cycles(1)
    before = place_of(soccer, 'left_1').copy()
    game.send(agent, '(beam nan 0 0)(he1 nan)(nothing 1)((he1 1))(he1 1 1)(xyz)(he2 1)')
    game.cycles(10)
    np.testing.assert_allclose(place_of(soccer, 'left_1'), before, atol=0.01)
    joints = agent.percepts.joints
    assert abs(joints['hj1']) < 0.1 and joints['hj2'] > 5
    assert 'nan' in caplog.text and "'nothing'" in caplog.text


def test_a_call_reaches_all_within_fifty_metres_in_the_next_cycle(play, soccer):
    game = play('left_1_home')
    left, right = game.join(), game.join('B')
    game.send(left, '(beam -2 0 0)')
    game.send(right, '(beam 0 -2 90)')
    game.cycles(1)
    game.send(left, '(say hello)')
    game.cycles(1)
    assert '(hear A 0.00 self hello)' in left.text
    (heard,) = right.percepts.heard
    assert (heard.team, heard.text) == ('A', 'hello')
    # The right player stands at (0, 2) and looks along -y to its right goal ... see the beam.
    eye = soccer.data.site('right_1_vision')
    away = soccer.data.site('left_1_vision').xpos - eye.xpos
    forward, side, _ = eye.xmat.reshape(3, 3).T
    expected = math.degrees(math.atan2(away @ side, away @ forward))
    assert float(heard.direction) == pytest.approx(expected, abs=1.0)
    game.cycles(1)
    assert not left.percepts.heard and not right.percepts.heard
    game.place('right_1', (52.0, 0, 0.4), (0, 0, 0, 1))
    game.send(left, '(say far)')
    game.turn()
    assert left.percepts.heard and not right.percepts.heard


def test_a_team_may_call_every_second_cycle(game, agent):
    heard = []
    for number in range(4):
        game.send(agent, f'(say word{number})(say again)')
        game.cycles(1)
        heard.append([call.text for call in agent.percepts.heard])
    assert heard == [['word0'], [], ['word2'], []]


def test_agent_state_is_sent_with_the_option_or_once_a_trainer_has_set_it(play):
    game = play()
    agent, other = game.join('A'), game.join('B')
    game.cycles(1)
    assert '(AgentState' not in agent.text
    game.state.condition(game.state.roster.find(Side.LEFT, 1)).battery = 40.0
    game.cycles(1)
    assert agent.text.endswith('(AgentState (temp 23) (battery 40))')
    assert '(AgentState' not in other.text
    game = play(agent_state=True)
    agent = game.join()
    game.cycles(1)
    assert agent.percepts.battery is not None


def test_agents_that_send_syn_are_waited_for(game):
    agent, other = game.join(), game.join('B')
    game.cycles(3)
    assert not game.agents.is_waiting
    game.send(agent, '(he1 0)(syn)')
    assert not game.agents.is_waiting
    game.cycles(1)
    assert game.agents.is_waiting
    game.send(other, '(syn)')
    assert game.agents.is_waiting
    game.send(agent, '(syn)')
    assert not game.agents.is_waiting
    # One that was waited for in vain is closed, and holds nobody up.
    for _ in range(2):
        game.send(other, '(syn)')
        game.cycles(1)
    assert not agent.is_open and other.is_open
    game.agents.disconnected(agent)
    game.send(other, '(syn)')
    assert not game.agents.is_waiting


def test_without_sync_mode_syn_does_nothing_and_vision_comes_at_its_own_rate(play):
    game = play(wait_for_syn=False, vision_cycles=2)
    agent = game.join()
    game.send(agent, '(syn)')
    game.cycles(6)
    assert not game.agents.is_waiting and agent.is_open and len(agent.sent) == 6
    assert sum(b'(See ' in payload for payload in agent.sent) == 3


def test_with_joining_a_player_leaves_with_its_agent_and_joins_anew(play, soccer):
    game = play(by_joining=True)
    first = game.join('A', 7)
    second = game.join('A', 3)  # there is one robot a side
    game.cycles(3)
    assert [(p.number, p.robot) for p in game.state.roster] == [(7, 'left_1')]
    # As in SimSpark: 0.8 m before the goal line, in a row.
    np.testing.assert_allclose(place_of(soccer, 'left_1')[:2], [-8.2, 5.2 - 6 * 1.04], atol=0.05)
    # A robot without an agent takes no part.
    assert 'right' not in [player.team for player in first.percepts.seen.players]
    assert abs(place_of(soccer, 'right_1')[1]) > 50
    game.send(first, '(lae1 3)(he1 3)')
    game.cycles(20)
    game.agents.disconnected(first)
    assert not list(game.state.roster)
    game.cycles(50)
    assert abs(place_of(soccer, 'left_1')[1]) > 50
    assert soccer.data.body('left_1_base_link').xmat[8] > 0.99  # it stands there
    game.send(second, '(init (unum 3)(teamname A))')
    game.cycles(2)
    (player,) = game.state.roster
    assert player.number == 3 and abs(place_of(soccer, 'left_1')[0]) < 9
    # Its joints are back in the home position, and stay there.
    assert second.percepts.joints['hj1'] == pytest.approx(0, abs=1)
    assert second.percepts.joints['laj1'] == pytest.approx(-90, abs=2)


@pytest.mark.parametrize(('team', 'right'), [('A', []), ('B', [1])])
def test_with_joining_a_number_is_unique_in_its_team(types, team, right):
    game = types.play(Agents(AgentOptions()), by_joining=True)
    game.join('A', 1)
    game.join(team, 1)
    game.cycles(1)
    assert [p.number for p in game.state.roster.of_side(Side.LEFT)] == [1]
    assert [p.number for p in game.state.roster.of_side(Side.RIGHT)] == right


@pytest.fixture(scope='module')
def types(tmp_path_factory):
    """Return a stepped world with three players a side, of types 0, 2 and 4."""
    world = SteppedWorld(model=write_world(tmp_path_factory.mktemp('t'), 3, 'page', [0, 2, 4]))
    yield world
    world.close()


def test_a_scene_chooses_the_type_of_the_nao(types, caplog):
    game = types.play(Agents(AgentOptions()), by_joining=True)
    toes = game.join('A', 2, scene='rsg/agent/nao/nao_hetero.rsg 4')
    quick = game.join('A', 9, scene='nao_hetero.rsg 2')
    other = game.join('A', 1, scene='nao_hetero.rsg 3')
    robots = {player.number: player.robot for player in game.state.roster}
    assert robots == {2: 'left_3', 9: 'left_2', 1: 'left_1'}
    assert 'no robot of type 3' in caplog.text
    game.cycles(30)  # until it stands
    assert {'llj7', 'rlj7'} <= set(toes.percepts.joints) and 'llj7' not in quick.percepts.joints
    assert {'lf', 'rf', 'lf1', 'rf1'} == set(toes.percepts.forces)
    # Its ankles turn at most at 8.81 rad/s in pitch and 3.47 rad/s in roll.
    for agent, number, pitch, roll in ((quick, 9, 8.80667, 3.47234), (other, 1, 6.1395, 6.1395)):
        game.place(robots[number], (number, 0, 5), (0, 0, 0, 1))  # nothing touches it
        game.cycles(1)
        game.send(agent, '(lle5 9)(lle6 9)')
        game.cycles(2)
        first = agent.percepts.joints
        game.cycles(2)
        for joint, speed in (('llj5', pitch), ('llj6', roll)):
            way = agent.percepts.joints[joint] - first[joint]
            assert way == pytest.approx(math.degrees(speed * 0.04), rel=0.07), joint
