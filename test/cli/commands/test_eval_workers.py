# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab eval --workers`: the same bits for any number of workers, and a kill loses nothing."""

import json
import os
from pathlib import Path
import re
import signal
import subprocess
import sys
import time

from lifelines import start_process
from mcap.reader import make_reader
import psutil
from pyarrow import parquet
import pytest

ROOT = Path(__file__).parents[3]
POLICY = """
import numpy as np, os, pathlib, time

class Wander:
    '''Moves by what it sees and by the seed of the episode; leaves notes for the test.'''

    def reset(self, seen):
        self.seed = int(seen.info.get('seed', 0))
        self.random = np.random.default_rng(self.seed)
        self.start = np.asarray(seen.proprios['joint_pos'], float)

    def __call__(self, seen):
        pathlib.Path('alive', str(os.getpid())).touch()
        time.sleep(float(os.environ.get('PAUSE', 0)))
        return self.start + 0.1 * self.random.normal(size=self.start.shape)
"""
EPISODES = 6


@pytest.fixture
def place(tmp_path):
    (tmp_path / 'policy.py').write_text(POLICY)
    (tmp_path / 'profile.yaml').write_text('cameras: []\n')
    (tmp_path / 'alive').mkdir()
    return tmp_path


def begin(place, results, workers, *words, **environ):
    places = [str(ROOT), os.environ.get('PYTHONPATH', '')]
    command = [sys.executable, '-m', 'urlab_ros_bridge.cli.main', 'eval', '--policy']
    command += ['policy:Wander', '--world', 'quadruped', '--profile', 'profile.yaml']
    command += ['--workers', workers, '--results', results, '--episodes', EPISODES]
    command += ['--max-steps', 12, '--seed', 3, *words]
    return start_process(
        command,
        cwd=place,
        env={**os.environ, **environ, 'PYTHONPATH': os.pathsep.join(filter(None, places))},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(process, code=0):
    said = process.communicate(timeout=150)[0]
    assert process.returncode == code, said
    return said


def table(place, results):
    rows = parquet.read_table(place / results / 'results.parquet').to_pylist()
    assert [row['index'] for row in rows] == list(range(len(rows)))
    return [{name: row[name] for name in row if name != 'wall'} for row in rows]


def wait(condition, seconds=100):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def done(place, results):
    log = place / results / 'episodes.jsonl'
    lines = log.read_bytes().split(b'\n')[:-1] if log.exists() else []
    return [json.loads(line)['index'] for line in lines]


def messages(path):
    with path.open('rb') as file:
        found = make_reader(file).iter_messages()
        return [(channel.topic, each.log_time, each.data) for _, channel, each in found]


@pytest.mark.slow
def test_equal_bits_for_any_number_of_workers_whoever_is_killed(place):
    one = begin(place, 'one', 1, '--record', 'mcap', '--table', 'table.csv')
    said = finish(one)
    rows = table(place, 'one')
    assert [row['seed'] for row in rows] == [3, 4, 5, 6, 7, 8]
    assert len({row['digest'] for row in rows}) == EPISODES  # each seed has its own
    assert {row['steps'] for row in rows} == {12} and 'mean' in said
    # Progress: how many, the rate, the time left.
    assert re.search(rf'{EPISODES}/{EPISODES}\s+[0-9.]+ /s\s+left\s+0:00:0', said), said
    recorded = sorted((place / 'mcap').glob('episode_*.mcap'))
    assert len(recorded) == EPISODES
    assert len((place / 'table.csv').read_text().splitlines()) == EPISODES + 1

    # Two workers, of which one is killed in the middle of an episode; then the driver is.
    for note in (place / 'alive').iterdir():
        note.unlink()
    driver = begin(place, 'two', 2, '--record', 'again', PAUSE='0.05')
    wait(lambda: len(list((place / 'alive').iterdir())) == 2)
    workers = [int(note.name) for note in (place / 'alive').iterdir()]
    os.kill(workers[0], signal.SIGKILL)
    wait(lambda: len(done(place, 'two')) >= 2)
    driver.kill()
    driver.communicate()
    wait(lambda: not any(psutil.pid_exists(int(n.name)) for n in (place / 'alive').iterdir()))
    before = (place / 'two' / 'episodes.jsonl').read_bytes()
    assert 2 <= len(done(place, 'two')) < EPISODES

    # It goes on with what is missing, and what is there is not run again.
    finish(begin(place, 'two', 2, '--record', 'again'))
    assert table(place, 'two') == rows
    assert (place / 'two' / 'episodes.jsonl').read_bytes().startswith(before)
    assert sorted(done(place, 'two')) == list(range(EPISODES))
    # So are the recordings; of those that were cut off nothing is left.
    assert [path.name for path in recorded] == sorted(p.name for p in (place / 'again').iterdir())
    for path in recorded:
        assert messages(path) == messages(place / 'again' / path.name)

    # Another evaluation does not mix with it.
    assert 'its first_seed is 3, this one has 9' in finish(begin(place, 'two', 1, '--seed', 9), 2)
    settings = json.loads((place / 'two' / 'evaluation.json').read_text())
    assert settings['policy'] == 'policy:Wander' and len(settings['policy_digest']) == 64


@pytest.mark.long
@pytest.mark.slow
def test_an_episode_that_kills_its_workers_ends_the_evaluation(place):
    deadly = '        if self.seed == 5:\n            os._exit(9)\n        return'
    (place / 'policy.py').write_text(POLICY.replace('        return', deadly))
    said = finish(begin(place, 'out', 2), 2)
    assert 'episode 2: 3 workers died in it (exit code 9)' in said
    assert 2 not in done(place, 'out')


@pytest.mark.parametrize(
    ('words', 'message'),
    [
        ((), '--results is needed with --workers'),
        (('--ray', 'local'), '--results is needed with --ray'),
        (('--results', 'x', '--video', 'v'), '--video goes without --workers only'),
    ],
)
def test_arguments_that_do_not_fit_are_named(capsys, words, message):
    from urlab_ros_bridge.cli.main import main

    assert main(['eval', '--policy', 'os:getcwd', '--workers', '2', *words]) != 0
    assert message in ' '.join(capsys.readouterr().err.split()).replace(': ', ' ')
