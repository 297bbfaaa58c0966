# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab chiral` and `urlab eval` on a real server, the first as a program."""

import importlib.util
import re
import signal

from bundled_server import simulation
from mcap.reader import make_reader
from pyarrow import parquet
import pytest
from urlab_programs import start_urlab

from urlab_ros_bridge.cli.commands import chiral
from urlab_ros_bridge.cli.main import main

HAS_AV = importlib.util.find_spec('av') is not None
POLICY = """
class Tires:
    episodes = 0

    def reset(self):
        self.episodes += 1

    def __call__(self, seen):
        return seen.proprios['joint_pos'] if self.episodes < 3 else 'no more'
"""


@pytest.fixture
def served():
    """Yield the first line of a gateway in lockstep before a quadruped."""
    with simulation('quadruped') as port:
        words = (f'--rpc-port={port}', '--port=0', '--pace=lockstep')
        gateway, line = start_urlab('chiral', *words)
        try:
            yield line
        finally:
            gateway.send_signal(signal.SIGINT)
            assert gateway.wait(30) == 0, gateway.stderr.read()


def test_a_policy_is_evaluated_and_recorded_until_it_fails(served, tmp_path, monkeypatch, capsys):
    assert served.startswith(chiral.READY_LINE)
    assert 'robot=quadruped pace=lockstep cameras=front_rgb' in served
    url = re.search(r'ws://\S+', served)[0]
    (tmp_path / 'walk.py').write_text(POLICY, encoding='utf-8')
    monkeypatch.chdir(tmp_path)
    words = ['--policy=walk:Tires', f'--url={url}', '--episodes=4', '--max-steps=2']
    words += ['--record=runs', *(['--video=films'] if HAS_AV else []), '--table=table.parquet']
    assert main(['eval', *words]) == 2
    output = capsys.readouterr()
    assert 'episode 2 (seed 2) failed: ' in output.err and "'no more'" in output.err
    # What was done before is written.
    assert re.search(r'all .* 4 .*0/2 = 0%', output.out)
    _, second = parquet.read_table('table.parquet').to_pylist()
    assert (second['seed'], second['steps'], second['reward']) == (1, 2, 0.0)
    assert second['success'] is False and second['ended'] == 'max_steps'
    for index in range(2):
        if HAS_AV:
            film = (tmp_path / 'films' / f'episode_{index:04d}.mp4').read_bytes()
            assert film[4:8] == b'ftyp' and b'moov' in film
        with (tmp_path / 'runs' / f'episode_{index:04d}.mcap').open('rb') as file:
            summary = make_reader(file).get_summary()
        topics = {channel.topic for channel in summary.channels.values()}
        assert {'/front_rgb/image', '/proprio/joint_pos', '/action'} <= topics
