# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab eval --workers`: the same bits for any number of workers, and a kill loses nothing."""

from dataclasses import asdict
import os
import signal

from eval_runs import begin
from eval_runs import done
from eval_runs import EPISODES
from eval_runs import finish
from eval_runs import noted
from eval_runs import POLICY
from eval_runs import prepare
from eval_runs import SEED
from eval_runs import table
from eval_runs import wait
from mcap.reader import make_reader
import psutil
from pyarrow import parquet
import pytest

from urlab_ros_bridge.evaluation.episode_files import RunSettings
from urlab_ros_bridge.evaluation.episode_worker import Assignment
from urlab_ros_bridge.evaluation.episode_worker import EpisodeRunner


def messages(path):
    with path.open('rb') as file:
        found = make_reader(file).iter_messages()
        return [(channel.topic, each.log_time, each.data) for _, channel, each in found]


def run_here(place):
    """Run and record all episodes in this process; return their rows, without the wall clock."""
    settings = RunSettings.of('quadruped', 'profile.yaml', 'policy:Wander', 12, SEED)
    (recordings := place / 'mcap').mkdir()
    with EpisodeRunner(Assignment(asdict(settings), str(recordings))) as runner:
        rows = [runner.run(index).values() for index in range(EPISODES)]
    return [{name: row[name] for name in row if name != 'wall'} for row in rows]


@pytest.mark.slow
def test_equal_bits_for_any_number_of_workers_whoever_is_killed(tmp_path, monkeypatch):
    place = prepare(tmp_path)
    monkeypatch.chdir(place)
    monkeypatch.syspath_prepend(place)
    rows = run_here(place)
    assert [row['seed'] for row in rows] == [3, 4, 5, 6, 7, 8]
    assert len({row['digest'] for row in rows}) == EPISODES  # each seed has its own
    assert {row['steps'] for row in rows} == {12}

    # The driver of two workers is killed.
    driver = begin(place, 'two', '--workers', 2, '--record', 'again', PAUSE='0.05')
    wait(lambda: len(noted(place)) == 2 and len(done(place, 'two')) >= 2)
    driver.kill()
    driver.communicate()
    wait(lambda: not any(map(psutil.pid_exists, noted(place))))
    before = (place / 'two' / 'episodes.jsonl').read_bytes()
    assert 2 <= len(done(place, 'two')) < EPISODES

    # It goes on with what is missing, and a worker is killed in the middle of an episode.
    gone = set(noted(place))
    (scratch := place / 'scratch').mkdir()
    words = ('--workers', 2, '--record', 'again', '--table', 'table.parquet')
    driver = begin(place, 'two', *words, TMPDIR=str(scratch), PAUSE='0.05')
    wait(lambda: set(noted(place)) - gone)
    os.kill((set(noted(place)) - gone).pop(), signal.SIGKILL)
    assert f'{EPISODES}/{EPISODES}' in finish(driver)
    for row, same in zip(table(place, 'two'), rows, strict=True):
        assert row.items() >= same.items()
    assert parquet.read_table(place / 'table.parquet')['seed'].to_pylist() == [3, 4, 5, 6, 7, 8]
    assert (place / 'two' / 'episodes.jsonl').read_bytes().startswith(before)
    assert sorted(done(place, 'two')) == list(range(EPISODES))
    # So are the recordings; of those that were cut off nothing is left.
    recorded = sorted((place / 'mcap').iterdir())
    assert [path.name for path in recorded] == sorted(p.name for p in (place / 'again').iterdir())
    for path in recorded:
        assert messages(path) == messages(place / 'again' / path.name)


@pytest.mark.long
@pytest.mark.slow
def test_an_episode_that_kills_its_workers_ends_the_evaluation(tmp_path):
    place = prepare(tmp_path)
    deadly = '        if self.seed == 5:\n            os._exit(9)\n        return'
    (place / 'policy.py').write_text(POLICY.replace('        return', deadly))
    output = finish(begin(place, 'out', '--workers', 2), 2)
    assert 'episode 2: 3 workers died running it (exit code 9)' in output
    assert 2 not in done(place, 'out')
