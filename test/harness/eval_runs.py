# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab eval` as a program, with a policy that leaves notes, and what it has written."""

from functools import partial
import json
import os
from pathlib import Path
import subprocess
import sys

from lifelines import start_process
from pyarrow import parquet
from waiting import wait_until

ROOT = Path(__file__).parents[2]
EPISODES = 6
SEED = 3
# Where the policy notes the process that it runs in.
NOTES = 'notes'
PATIENCE = 200.0
wait = partial(wait_until, seconds=PATIENCE)
POLICY = """
import numpy as np, os, pathlib, time

class Wander:
    '''Moves by what it sees and by the seed of the episode; leaves notes for the test.'''

    def reset(self, seen):
        self.seed = int(seen.info.get('seed', 0))
        self.random = np.random.default_rng(self.seed)
        self.start = np.asarray(seen.proprios['joint_pos'], float)

    def __call__(self, seen):
        if 'NOTES' in os.environ:
            pathlib.Path(os.environ['NOTES'], str(os.getpid())).touch()
        time.sleep(float(os.environ.get('PAUSE', 0)))
        return self.start + 0.1 * self.random.normal(size=self.start.shape)
"""


def prepare(place):
    """Write policy and profile into a folder; return it."""
    (place / 'policy.py').write_text(POLICY)
    (place / 'profile.yaml').write_text('cameras: []\n')
    (place / NOTES).mkdir()
    return place


def environment(**more):
    """Return that of the program: nothing of a Ray cluster that this process may know."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith('RAY_')}
    places = [str(ROOT), kept.get('PYTHONPATH', '')]
    return {**kept, 'PYTHONPATH': os.pathsep.join(filter(None, places)), **more}


def begin(place, results, *words, **environ):
    """Start it in a folder, with further words and variables; return the process."""
    command = [sys.executable, '-m', 'urlab_ros_bridge.cli.main', 'eval', '--policy']
    command += ['policy:Wander', '--world', 'quadruped', '--profile', 'profile.yaml']
    command += ['--results', results, '--episodes', EPISODES, '--max-steps', 12]
    command += ['--seed', SEED, *words]
    return start_process(
        list(map(str, command)),
        cwd=place,
        env=environment(NOTES=str(place / NOTES), **environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(process, code=0):
    """Wait for its end with an exit code; return what it printed."""
    said = process.communicate(timeout=PATIENCE)[0]
    assert process.returncode == code, said
    return said


def table(place, results):
    """Return the rows of the results, without times of the wall clock."""
    rows = parquet.read_table(place / results / 'results.parquet').to_pylist()
    assert [row['index'] for row in rows] == list(range(EPISODES))
    return [{name: row[name] for name in row if name != 'wall'} for row in rows]


def done(place, results):
    """Return the indices of the episodes that are in the log."""
    log = place / results / 'episodes.jsonl'
    lines = log.read_bytes().split(b'\n')[:-1] if log.exists() else []
    return [json.loads(line)['index'] for line in lines]


def noted(place):
    """Return the ids of the processes in which the policy has run."""
    return [int(note.name) for note in (place / NOTES).iterdir()]
