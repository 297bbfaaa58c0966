# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Export of recorded episodes as a LeRobotDataset."""

import json
import sys

import numpy as np
from pyarrow import parquet
import pytest

from urlab_ros_bridge.cli.main import main
from urlab_ros_bridge.evaluation.episode_log import EpisodeLog
from urlab_ros_bridge.evaluation.episode_log import NotAnEpisode
from urlab_ros_bridge.evaluation.episode_log import read_frames
from urlab_ros_bridge.evaluation.episode_log import RecordedFrame
from urlab_ros_bridge.evaluation.lerobot import CannotExport
from urlab_ros_bridge.evaluation.lerobot import LayoutWriter
from urlab_ros_bridge.evaluation.lerobot import LeRobotWriter
from urlab_ros_bridge.evaluation.lerobot import write_dataset
from urlab_ros_bridge.gateways.chiral.protocol.codec import CameraView
from urlab_ros_bridge.gateways.chiral.protocol.codec import Observation

LENGTHS = (5, 3, 4)
FRAMES = [(e, n) for e, length in enumerate(LENGTHS) for n in range(length)]
WRIST = 'observation.images.wrist'


@pytest.fixture
def runs(tmp_path):
    """Return a folder of recorded episodes whose numbers tell which frame they are of."""
    folder = tmp_path / 'runs'
    folder.mkdir()
    for episode, length in enumerate(LENGTHS):
        log = EpisodeLog(folder / f'episode_{episode:04d}.mcap')
        for number in range(length + 1):
            image = np.full((48, 64, 3), 40 * episode + 10 * number, np.uint8)
            view = CameraView('wrist', 0.0, np.eye(3), np.eye(4), image)
            values = {'joint_pos': np.float32([episode, number]), 'a': np.float32([0.5])}
            extra = {'sim_time': 1.0 + number / 30, 'reward': 0.25 * number}
            action = np.array([number, -episode, 1.5]) if number < length else None
            log.add(Observation(0.0, [view], values, extra), action)
        log.close({})
    return folder


def test_rows_and_images_are_what_was_recorded(tmp_path, capsys, runs, monkeypatch):
    av = pytest.importorskip('av')
    monkeypatch.setitem(sys.modules, 'lerobot', None)
    out = tmp_path / 'set'
    words = ['export', 'lerobot', '--episodes', str(runs), '--out', str(out), '--task', 'stand']
    assert main(words) == 0
    info = json.loads((out / 'meta/info.json').read_text())
    assert (info['codebase_version'], info['fps'], info['total_frames']) == ('v3.0', 30, 12)
    rows = parquet.read_table(out / 'data/chunk-000/file-000.parquet').to_pylist()
    assert [row['index'] for row in rows] == list(range(12))
    assert {*rows[0], WRIST} == set(info['features'])
    for row, (episode, number) in zip(rows, FRAMES, strict=True):
        assert (row['episode_index'], row['frame_index']) == (episode, number)
        assert row['timestamp'] == pytest.approx(number / 30)
        assert row['observation.state'] == [0.5, episode, number]
        assert row['action'] == [number, -episode, 1.5]
        assert row['next.reward'] == 0.25 * number
        assert row['next.done'] == (number == LENGTHS[episode] - 1)
    stats = json.loads((out / 'meta/stats.json').read_text())
    assert stats['action']['max'] == [4.0, 0.0, 1.5] and stats['action']['count'] == [12]
    assert stats['action']['std'][0] == pytest.approx(np.std([row['action'][0] for row in rows]))
    episodes = parquet.read_table(out / 'meta/episodes/chunk-000/file-000.parquet')
    bounds = episodes.select(['dataset_from_index', 'dataset_to_index']).to_pylist()
    assert [tuple(row.values()) for row in bounds] == [(0, 5), (5, 8), (8, 12)]
    begins = episodes[f'videos/{WRIST}/from_timestamp'].to_pylist()
    assert begins == pytest.approx([0, 5 / 30, 8 / 30])
    with av.open(str(out / f'videos/{WRIST}/chunk-000/file-000.mp4')) as container:
        frames = [(f.time, f.to_ndarray(format='rgb24').mean()) for f in container.decode(video=0)]
    brightness = [40 * episode + 10 * number for episode, number in FRAMES]
    assert [value for _, value in frames] == pytest.approx(brightness, abs=4)
    assert [time for time, _ in frames] == pytest.approx([n / 30 for n in range(12)], abs=1e-3)
    assert main(words) != 0  # nothing is written over
    assert 'is not empty' in capsys.readouterr().err


@pytest.mark.parametrize('writer', [LeRobotWriter, LayoutWriter])
def test_lerobot_reads_what_was_recorded_whoever_wrote_it(tmp_path, runs, writer):
    module = pytest.importorskip('lerobot.datasets.lerobot_dataset')
    made = writer(tmp_path / 'set', 30, 'rover')
    for path in sorted(runs.iterdir()):
        made.add(read_frames(path), 'stand')
    made.close()
    read = module.LeRobotDataset('local/urlab', root=tmp_path / 'set')
    assert (read.num_episodes, read.num_frames, read.fps) == (3, 12, 30)
    for (episode, number), row in zip(FRAMES, map(read.__getitem__, range(12)), strict=True):
        assert row['observation.state'].tolist() == [0.5, episode, number]
        assert row['action'].tolist() == [number, -episode, 1.5]
        assert row[WRIST].mean() * 255 == pytest.approx(40 * episode + 10 * number, abs=5)


def frame(size):
    return RecordedFrame({'q': np.zeros(2)}, {}, np.zeros(size))


def test_an_export_error_names_its_cause(tmp_path, capsys):
    with pytest.raises(CannotExport, match='episode 1 has'):
        list(write_dataset(LayoutWriter(tmp_path / 'a', 30), [[frame(2)], [frame(3)]], ''))
    (tmp_path / 'x.mcap').write_bytes(b'not MCAP')
    with pytest.raises(NotAnEpisode, match=r'x\.mcap'):
        list(read_frames(tmp_path / 'x.mcap'))
    assert main(['export', 'lerobot', '--episodes', str(tmp_path / 'none'), '--out', 'y']) != 0
    assert 'no MCAP file' in capsys.readouterr().err
