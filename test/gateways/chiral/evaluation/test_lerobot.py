# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Recorded episodes as a LeRobotDataset: what was recorded is what a learner reads."""

import json

from hypothesis import given
from hypothesis.extra import numpy as arrays
import numpy as np
from pyarrow import parquet
import pytest

from urlab_ros_bridge.cli.main import main
from urlab_ros_bridge.gateways.chiral.evaluation.episode_log import EpisodeLog
from urlab_ros_bridge.gateways.chiral.evaluation.episode_log import NotAnEpisode
from urlab_ros_bridge.gateways.chiral.evaluation.episode_log import read_frames
from urlab_ros_bridge.gateways.chiral.evaluation.lerobot import CannotExport
from urlab_ros_bridge.gateways.chiral.evaluation.lerobot import fps_of
from urlab_ros_bridge.gateways.chiral.evaluation.lerobot import RecordedFrame
from urlab_ros_bridge.gateways.chiral.evaluation.lerobot import statistics
from urlab_ros_bridge.gateways.chiral.evaluation.lerobot import write_dataset
from urlab_ros_bridge.gateways.chiral.protocol.codec import CameraView
from urlab_ros_bridge.gateways.chiral.protocol.codec import Observation

LENGTHS = (5, 3, 4)


def record(folder, images):
    """Record episodes whose numbers tell which frame they are of."""
    folder.mkdir()
    for episode, length in enumerate(LENGTHS):
        log = EpisodeLog(folder / f'episode_{episode:04d}.mcap')
        for number in range(length + 1):
            image = np.full((48, 64, 3), 40 * episode + 10 * number, np.uint8)
            views = [CameraView('wrist', 0.0, np.eye(3), np.eye(4), image)] if images else []
            values = {'joint_pos': np.float32([episode, number]), 'a': np.float32([0.5])}
            extra = {'sim_time': 1.0 + number / 30, 'reward': 0.25 * number}
            action = np.array([number, -episode, 1.5]) if number < length else None
            log.add(Observation(0.0, views, values, extra), action)
        log.close({})


def test_rows_are_what_was_recorded(tmp_path, capsys):
    record(tmp_path / 'runs', images=False)
    words = ['--episodes', str(tmp_path / 'runs'), '--out', str(tmp_path / 'set')]
    assert main(['export', 'lerobot', *words, '--task', 'stand']) == 0
    assert '3 episodes, 12 frames' in capsys.readouterr().out
    info = json.loads((tmp_path / 'set/meta/info.json').read_text())
    assert (info['codebase_version'], info['fps'], info['total_frames']) == ('v3.0', 30, 12)
    rows = parquet.read_table(tmp_path / 'set/data/chunk-000/file-000.parquet').to_pylist()
    assert [row['index'] for row in rows] == list(range(12))
    assert set(rows[0]) == set(info['features'])
    expected = [(e, n) for e, length in enumerate(LENGTHS) for n in range(length)]
    for row, (episode, number) in zip(rows, expected, strict=True):
        assert (row['episode_index'], row['frame_index']) == (episode, number)
        assert row['timestamp'] == pytest.approx(number / 30)
        assert row['observation.state'] == [0.5, episode, number]
        assert row['action'] == [number, -episode, 1.5]
        assert row['next.reward'] == 0.25 * number
        assert row['next.done'] == (number == LENGTHS[episode] - 1)
    stats = json.loads((tmp_path / 'set/meta/stats.json').read_text())
    assert stats['action']['max'] == [4.0, 0.0, 1.5] and stats['action']['count'] == [12]
    episodes = parquet.read_table(tmp_path / 'set/meta/episodes/chunk-000/file-000.parquet')
    bounds = episodes.select(['dataset_from_index', 'dataset_to_index']).to_pylist()
    assert [tuple(row.values()) for row in bounds] == [(0, 5), (5, 8), (8, 12)]
    assert main(['export', 'lerobot', *words]) != 0  # nothing is written over
    assert 'is not empty' in capsys.readouterr().err


def test_pictures_are_in_one_video_a_camera(tmp_path):
    av = pytest.importorskip('av')
    record(tmp_path / 'runs', images=True)
    words = ['--episodes', str(tmp_path / 'runs'), '--out', str(tmp_path / 'set')]
    assert main(['export', 'lerobot', *words]) == 0
    path = tmp_path / 'set/videos/observation.images.wrist/chunk-000/file-000.mp4'
    with av.open(str(path)) as container:
        frames = [(f.time, f.to_ndarray(format='rgb24').mean()) for f in container.decode(video=0)]
    brightness = [40 * e + 10 * n for e, length in enumerate(LENGTHS) for n in range(length)]
    assert [value for _, value in frames] == pytest.approx(brightness, abs=4)
    assert [time for time, _ in frames] == pytest.approx([n / 30 for n in range(12)], abs=1e-3)
    episodes = parquet.read_table(tmp_path / 'set/meta/episodes/chunk-000/file-000.parquet')
    begins = episodes['videos/observation.images.wrist/from_timestamp'].to_pylist()
    assert begins == pytest.approx([0, 5 / 30, 8 / 30])


def test_lerobot_reads_it(tmp_path):
    pytest.importorskip('datasets')
    module = pytest.importorskip('lerobot.datasets.lerobot_dataset')
    record(tmp_path / 'runs', images=True)
    words = ['--episodes', str(tmp_path / 'runs'), '--out', str(tmp_path / 'set')]
    assert main(['export', 'lerobot', *words, '--task', 'stand']) == 0
    dataset = module.LeRobotDataset('local/urlab', root=tmp_path / 'set')
    assert (dataset.num_episodes, dataset.num_frames, dataset.fps) == (3, 12, 30)
    item = dataset[6]
    assert item['action'].tolist() == [1.0, -1.0, 1.5] and item['task'] == 'stand'
    assert tuple(item['observation.images.wrist'].shape) == (3, 48, 64)
    assert float(item['observation.images.wrist'].mean()) == pytest.approx(50 / 255, abs=0.02)


@given(arrays.arrays(np.uint8, (40, 3)))
def test_the_statistics_of_a_histogram_are_those_of_its_values(pixels):
    for channel in pixels.T:
        counts = np.bincount(channel, minlength=256)
        found = statistics(np.arange(256.0), counts, 7)
        expected = (channel.min(), channel.max(), channel.mean(), channel.std())
        assert [found[n] for n in ('min', 'max', 'mean', 'std')] == pytest.approx(expected)
        assert found['count'] == [7]


def frame(size):
    return RecordedFrame({'q': np.zeros(2)}, {}, np.zeros(size))


def test_what_does_not_fit_is_named(tmp_path, capsys):
    with pytest.raises(CannotExport, match='episode 1 has'):
        list(write_dataset(tmp_path / 'a', [[frame(2)], [frame(3)]], '', 30))
    with pytest.raises(CannotExport, match='no episode'):
        list(write_dataset(tmp_path / 'b', [], '', 30))
    with pytest.raises(CannotExport, match='has no frames'):
        list(write_dataset(tmp_path / 'c', [[]], '', 30))
    with pytest.raises(CannotExport, match='rate'):
        fps_of([1.0])
    (tmp_path / 'x.mcap').write_bytes(b'not MCAP')
    with pytest.raises(NotAnEpisode, match=r'x\.mcap'):
        list(read_frames(tmp_path / 'x.mcap'))
    assert main(['export', 'lerobot', '--episodes', str(tmp_path / 'none'), '--out', 'y']) != 0
    assert 'there is no MCAP file' in capsys.readouterr().err
