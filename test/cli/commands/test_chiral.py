# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab chiral` and `urlab eval` as programs, on a real server."""

import importlib.util
import re
import signal
import sys

from lifelines import run_process
from mcap.reader import make_reader
from pyarrow import parquet
import pytest
from urlab_programs import ANY_PORTS
from urlab_programs import start_urlab

from urlab_ros_bridge.cli.commands import chiral
from urlab_ros_bridge.cli.main import main

HAS_AV = importlib.util.find_spec('av') is not None
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


@pytest.fixture
def served():
    """Yield the first line of a gateway in lockstep before a quadruped."""
    server, line = start_urlab('server', '--world=quadruped', *ANY_PORTS)
    rpc = re.search(r'rpc=tcp://[^:]+:(\d+)', line)[1]
    gateway, line = start_urlab('chiral', f'--rpc-port={rpc}', '--port=0', '--pace=lockstep')
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
    done = run_process(
        [
            sys.executable, '-m', 'urlab_ros_bridge.cli.main', 'eval', *words,
            '--record=runs', *(['--video=films'] if HAS_AV else []), '--table=table.parquet',
        ],
        cwd=tmp_path, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert re.search(r'all .* 10 .*0/2 = 0%', done.stdout)
    assert 'episodes' in done.stderr and '100%' in done.stderr
    _, second = parquet.read_table(tmp_path / 'table.parquet').to_pylist()
    assert (second['seed'], second['steps'], second['reward']) == (1, 5, 0.0)
    assert second['success'] is False and second['ended'] == 'max_steps'
    for index in range(2):
        if HAS_AV:
            film = (tmp_path / 'films' / f'episode_{index:04d}.mp4').read_bytes()
            assert film[4:8] == b'ftyp' and b'moov' in film
        with (tmp_path / 'runs' / f'episode_{index:04d}.mcap').open('rb') as file:
            summary = make_reader(file).get_summary()
        topics = {channel.topic for channel in summary.channels.values()}
        assert {'/front_rgb/image', '/proprio/joint_pos', '/action'} <= topics
    # What was done before a policy fails is written.
    words[0], words[2] = '--policy=walk:Tires', '--episodes=4'
    monkeypatch.chdir(tmp_path)
    assert main(['eval', *words, '--table=some.parquet']) == 2
    output = capsys.readouterr()
    problem = "the policy returned 'no more', not an array of numbers"
    assert f'episode 2 (seed 2) failed: {problem}' in output.err
    assert re.search(r'all .* 10 ', output.out)
    assert parquet.read_table(tmp_path / 'some.parquet').num_rows == 2
    assert main(['eval', *words, '--table=no/where.parquet']) == 2
    assert "--table: 'no/where.parquet' cannot be written" in capsys.readouterr().err
