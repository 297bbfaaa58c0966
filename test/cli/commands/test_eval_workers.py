# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab eval --workers`: the same bits for any number of workers, and a kill loses nothing."""

import json
import os
from pathlib import Path
import signal
import subprocess
import sys
import time

from lifelines import start_process
import psutil
from pyarrow import parquet
import pytest

ROOT = Path(__file__).parents[3]
POLICY = """
import numpy as np, os, pathlib, time

class Wander:
    '''Moves by what it sees and by the seed of the episode; leaves notes for the test.'''

    def reset(self, seen):
        self.random = np.random.default_rng(int(seen.info.get('seed', 0)))
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
    return sorted((place / results / 'episodes').glob('[0-9]*.json'))


@pytest.mark.slow
def test_equal_bits_for_any_number_of_workers_whoever_is_killed(place):
    one = begin(place, 'one', 1, '--record', 'mcap', '--table', 'table.csv')
    said = finish(one)
    rows = table(place, 'one')
    assert [row['seed'] for row in rows] == [3, 4, 5, 6, 7, 8]
    assert len({row['digest'] for row in rows}) == EPISODES  # each seed has its own
    assert {row['steps'] for row in rows} == {12} and 'mean' in said
    assert len(list((place / 'mcap').glob('episode_*.mcap'))) == EPISODES
    assert len((place / 'table.csv').read_text().splitlines()) == EPISODES + 1

    # Two workers, of which one is killed in the middle of an episode; then the driver is.
    for note in (place / 'alive').iterdir():
        note.unlink()
    driver = begin(place, 'two', 2, PAUSE='0.05')
    wait(lambda: len(list((place / 'alive').iterdir())) == 2)
    workers = [int(note.name) for note in (place / 'alive').iterdir()]
    os.kill(workers[0], signal.SIGKILL)
    wait(lambda: len(done(place, 'two')) >= 2)
    driver.kill()
    driver.communicate()
    wait(lambda: not any(psutil.pid_exists(int(n.name)) for n in (place / 'alive').iterdir()))
    before = {path: path.stat().st_mtime_ns for path in done(place, 'two')}
    assert 2 <= len(before) < EPISODES

    # It goes on with what is missing, and what is there is not run again.
    finish(begin(place, 'two', 2))
    assert table(place, 'two') == rows
    assert all(path.stat().st_mtime_ns == when for path, when in before.items())

    # Another evaluation does not mix with it, and a damaged file is named.
    assert 'its first_seed is 3, this one has 9' in finish(begin(place, 'two', 1, '--seed', 9), 2)
    done(place, 'two')[0].write_text('{"index": 0')
    assert 'remove it to run its episode again' in finish(begin(place, 'two', 1), 2)
    settings = json.loads((place / 'two' / 'evaluation.json').read_text())
    assert settings['policy'] == 'policy:Wander' and len(settings['policy_digest']) == 64


@pytest.mark.parametrize(
    ('words', 'message'),
    [
        ((), '--results is needed with --workers'),
        (('--results', 'x', '--video', 'v'), '--video goes without --workers only'),
    ],
)
def test_arguments_that_do_not_fit_are_named(capsys, words, message):
    from urlab_ros_bridge.cli.main import main

    assert main(['eval', '--policy', 'os:getcwd', '--workers', '2', *words]) != 0
    assert message in ' '.join(capsys.readouterr().err.split()).replace(': ', ' ')
