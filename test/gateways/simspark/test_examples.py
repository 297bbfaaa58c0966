# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The SimSpark examples do what docs/simspark.md says."""

import contextlib
import io
import json
from pathlib import Path
import random
import re

from simspark_client.clients import AgentClient
from waiting import wait_until

from test.gateways.running import simspark_at
from urlab_ros_bridge.gateways.simspark.agents.agents import Agents
from urlab_ros_bridge.gateways.simspark.referee.referee import SoccerReferee

EXAMPLES = Path(__file__).parents[3] / 'examples'


def run(program, gateway, **changes):
    """Run an example at a gateway; return what it prints, by lines."""
    code = (EXAMPLES / program).read_text()
    code = code.replace('MonitorClient(', f'MonitorClient(port={gateway.monitor_port}, ')
    code = code.replace("team='Ours'", f"team='Ours', port={gateway.agent_port}")
    for old, new in changes.items():
        code = code.replace(f'{old}(10)', f'{old}({new})')
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        exec(code, {})
    return shown.getvalue().splitlines()


def test_the_ball_is_shot_until_it_is_a_goal_or_out(soccer):
    random.seed(1)
    with simspark_at(soccer, None, SoccerReferee(), pace='free') as gateway:
        lines = run('simspark_trainer.py', gateway, range=3)
    results = [line.split()[-1] for line in lines]
    assert len(results) == 3 and set(results) <= {'goal', 'out'} and 'goal' in results


def test_the_agent_kicks_the_ball_as_far_as_documented(soccer):
    with simspark_at(soccer, Agents(), SoccerReferee(), pace='free') as gateway:
        lines = run('simspark_agent.py', gateway)
    balls = [
        [float(x) for x in re.findall(r'-?\d+\.?\d*', line.split('ball')[1])] for line in lines
    ]
    assert len(balls) > 100 and abs(balls[0][0]) < 0.1
    assert 5.0 < balls[-1][0] < 9.0


def test_a_game_ends_with_its_result_in_a_file(soccer, tmp_path, monkeypatch, watch):
    monkeypatch.chdir(tmp_path)
    with simspark_at(soccer, Agents(), SoccerReferee(), pace='free') as gateway:
        monitor = watch(gateway)
        with AgentClient(port=gateway.agent_port, team='Ours', sync=False):
            monitor.command(['score', ['left', 3], ['right', 1]])
            monitor.command(['kickOff', 'Left'], ['time', 300])
            wait_until(lambda: monitor.update().game['half'] == ['2'])
            monitor.command(['kickOff', 'Left'], ['time', 600])
            lines = run('simspark_result.py', gateway)
    result = json.loads((tmp_path / 'result.json').read_text())
    assert result == {'teams': ['Ours', '?'], 'score': [3, 1]} and "'Ours'" in lines[0]
