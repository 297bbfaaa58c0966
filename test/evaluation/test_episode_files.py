# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The folder of an evaluation: an episode is complete or absent, whatever ends the process."""

from dataclasses import replace
import json
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.evaluation import episode_files
from urlab_ros_bridge.evaluation.episode_files import DamagedResult
from urlab_ros_bridge.evaluation.episode_files import EpisodeFiles
from urlab_ros_bridge.evaluation.episode_files import EpisodeRow
from urlab_ros_bridge.evaluation.episode_files import EvaluationRuns
from urlab_ros_bridge.evaluation.episode_files import OtherEvaluation
from urlab_ros_bridge.evaluation.episode_files import RunSettings
from urlab_ros_bridge.evaluation.episodes import EpisodeResult

PURPOSE = RunSettings('rover', '', 'policy:act', 12, 3)


def row(index):
    result = EpisodeResult(3 + index, 12, index / 7, index % 2 == 0, 0.24, 0.1, 'max_steps')
    return EpisodeRow(index, f'{index:064x}', result)


def fill(folder, *indices):
    with EpisodeFiles(folder, PURPOSE) as files:
        for index in indices:
            files.add(row(index))


def rows(folder):
    with EpisodeFiles(folder, PURPOSE) as files:
        return files.rows


@given(st.data())
def test_a_kill_at_any_byte_loses_at_most_the_last_episode(data):
    with TemporaryDirectory() as folder:
        order = data.draw(st.permutations(range(4)))
        fill(Path(folder), *order)
        log = Path(folder, 'episodes.jsonl')
        text = log.read_bytes()
        cut = data.draw(st.integers(0, len(text)))
        log.write_bytes(text[:cut])
        kept = text[:cut].count(b'\n')
        assert rows(Path(folder)) == {index: row(index) for index in order[:kept]}
        # It goes on behind the last whole line.
        fill(Path(folder), *order)
        assert log.read_bytes() == text


@pytest.mark.parametrize(
    'line',
    [
        b'\xff\n',
        json.dumps({**row(0).values(), 'seed': 9}).encode() + b'\n',
    ],
)
def test_a_damaged_line_is_named_and_nothing_is_changed(tmp_path, line):
    fill(tmp_path, 1)
    log = tmp_path / 'episodes.jsonl'
    text = log.read_bytes() + line + log.read_bytes()
    log.write_bytes(text)
    with pytest.raises(DamagedResult, match='line 2'):
        EpisodeFiles(tmp_path, PURPOSE)
    assert log.read_bytes() == text


def test_a_folder_is_for_one_evaluation_and_for_one_process(tmp_path):
    with EpisodeFiles(tmp_path, PURPOSE), pytest.raises(EvaluationRuns):
        EpisodeFiles(tmp_path, PURPOSE)
    with pytest.raises(OtherEvaluation, match='its policy_digest is'):
        EpisodeFiles(tmp_path, replace(PURPOSE, policy_digest='ab'))
    (tmp_path / episode_files.SETTINGS_FILE).write_text('{')
    with pytest.raises(DamagedResult, match='give another folder'):
        EpisodeFiles(tmp_path, PURPOSE)
