# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab chiral` and `urlab eval` as programs, on a real server."""

import os
import re
import signal
import subprocess
import sys

from mcap.reader import make_reader
import pytest

from urlab_ros_bridge.cli import chiral
from urlab_ros_bridge.cli import eval as evaluation
from urlab_ros_bridge.cli.processes import is_wanted
from urlab_ros_bridge.cli.processes import own_words
from urlab_ros_bridge.cli.processes import PROCESSES

POLICY = """
episodes = 0

def hold(seen):
    return seen.proprios['joint_pos']

class Tires:
    def reset(self):
        global episodes
        episodes += 1

    def __call__(self, seen):
        return hold(seen) if episodes < 3 else 'no more'
"""


def start(module, *words):
    process = subprocess.Popen(
        [sys.executable, '-m', f'urlab_ros_bridge.cli.{module}', *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, 'PYTHONUNBUFFERED': '1'},
    )
    return process, process.stdout.readline()


@pytest.fixture
def served():
    """Yield the first line of a gateway in lockstep before a quadruped."""
    ports = [f'--{name}-port=0' for name in ('rpc', 'state', 'camera', 'control', 'info')]
    server, line = start('server', '--world=quadruped', *ports)
    rpc = re.search(r'rpc=tcp://[^:]+:(\d+)', line)[1]
    gateway, line = start('chiral', f'--rpc-port={rpc}', '--port=0', '--pace=lockstep')
    try:
        yield line
    finally:
        for process in (gateway, server):
            process.send_signal(signal.SIGINT)
            assert process.wait(10) == 0, process.stderr.read()


def test_a_policy_is_evaluated_and_recorded(served, tmp_path, monkeypatch, capsys):
    assert served.startswith(chiral.READY_LINE)
    assert 'robot=quadruped pace=lockstep cameras=front_rgb' in served
    url = re.search(r'ws://\S+', served)[0]
    (tmp_path / 'walk.py').write_text(POLICY, encoding='utf-8')
    words = ['--policy=walk:hold', f'--url={url}', '--episodes=2', '--max-steps=5']
    done = subprocess.run(
        [
            sys.executable, '-m', 'urlab_ros_bridge.cli.eval', *words,
            '--record=runs', '--video=films', '--table=table.csv',
        ],
        cwd=tmp_path, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert re.search(r'all .* 10 .*0/2 = 0%', done.stdout)
    assert 'episodes' in done.stderr and '100%' in done.stderr
    lines = (tmp_path / 'table.csv').read_text(encoding='utf-8').splitlines()
    assert lines[0].startswith('seed,steps,reward,success') and len(lines) == 3
    assert lines[2].startswith('1,5,0.0,False,0.16') and lines[2].endswith(',max_steps')
    for index in range(2):
        assert (tmp_path / 'films' / f'episode_{index:04d}.avi').read_bytes()[8:12] == b'AVI '
        with (tmp_path / 'runs' / f'episode_{index:04d}.mcap').open('rb') as file:
            summary = make_reader(file).get_summary()
        topics = {channel.topic for channel in summary.channels.values()}
        assert {'/front_rgb/image', '/proprio/joint_pos', '/action'} <= topics
    # What was done before a policy fails is written.
    words[0], words[2] = '--policy=walk:Tires', '--episodes=4'
    monkeypatch.chdir(tmp_path)
    assert evaluation.main([*words, '--table=some.csv']) == 2
    said = capsys.readouterr()
    assert "returned 'no more', no action" in said.err and re.search(r'all .* 10 ', said.out)
    assert len((tmp_path / 'some.csv').read_text(encoding='utf-8').splitlines()) == 3


@pytest.mark.parametrize(
    ('words', 'says'),
    [
        (['--profile', 'nowhere.yaml'], "--profile: there is no file 'nowhere.yaml'"),
        (
            ['--rpc-port', '1', '--port', '0', '--timeout', '0.3'],
            'no reply from tcp://127.0.0.1:1',
        ),
        (['--bind', '203.0.113.1'], 'cannot be bound'),
    ],
)
def test_what_is_wrong_is_said(words, says, capsys):
    assert chiral.main(words) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    ('words', 'says'),
    [
        ([], "--policy is '', which is not a policy of the form module:callable"),
        (['--policy', 'x:y', '--episodes', '0'], 'at least 1'),
        (['--policy', 'no.such:thing'], 'cannot be imported'),
        (
            ['--policy', 'math:sqrt', '--url', 'ws://127.0.0.1:1', '--timeout', '0.3'],
            'connect to ws://127.0.0.1:1: no answer within 0.3 s',
        ),
    ],
)
def test_eval_says_what_is_wrong(words, says, capsys):
    assert evaluation.main(words) == 2
    assert says in capsys.readouterr().err


def test_launch_and_up_start_the_gateway_when_asked():
    process = next(process for process in PROCESSES if process.name == 'chiral')
    values = {
        'chiral': True, 'bind': '127.0.0.1', 'rpc_port': 5, 'chiral_port': 6,
        'chiral_profile': 'p.yaml', 'log_level': 'info',
    }  # fmt: skip
    assert is_wanted(process, values)
    assert not is_wanted(process, {**values, 'chiral': False})
    parsed = chiral.make_parser(chiral.CHIRAL).parse_args(own_words(process, values))
    assert (parsed.port, parsed.rpc_port, parsed.profile) == (6, 5, 'p.yaml')
