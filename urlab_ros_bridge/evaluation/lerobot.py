# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Recorded episodes as a LeRobotDataset v3.0: by `lerobot` where it is installed, else by this file.

Layout: the documentation of LeRobotDataset v3.0 (`codebase_version` "v3.0").
"""

from __future__ import annotations

from abc import ABC
from abc import abstractmethod
from collections.abc import Iterable
from collections.abc import Iterator
from itertools import chain
from itertools import pairwise
import json
from pathlib import Path
from typing import Any
from typing import ClassVar

import numpy as np

from urlab_ros_bridge.evaluation.episode_log import RecordedFrame
from urlab_ros_bridge.evaluation.episode_video import require_av
from urlab_ros_bridge.gateways.chiral.errors import ChiralError

VERSION = 'v3.0'
DATA_PATH = 'data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet'
VIDEO_PATH = 'videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4'
EPISODES_PATH = 'meta/episodes/chunk-000/file-000.parquet'
CODEC, PIXEL_FORMAT = 'libx264', 'yuv420p'
# A key frame every second frame: learners read frames at random.
QUALITY = {'crf': '23', 'preset': 'veryfast', 'g': '2'}
STATE, ACTION, REWARD, DONE = 'observation.state', 'action', 'next.reward', 'next.done'
IMAGES = 'observation.images.'
COLUMNS = ('timestamp', 'frame_index', 'episode_index', 'index', 'task_index')


class CannotExport(ChiralError):
    """Episodes cannot become one dataset."""


class DatasetWriter(ABC):
    """
    Writes a dataset, episode by episode; `close` completes it.

    Frames of an episode are at multiples of 1 / fps, as the format requires.

    :cvar label: for the user: what writes.
    """

    label: ClassVar[str]

    def __init__(self, folder: Path, fps: int, robot_type: str = '') -> None:
        """
        Prepare; the folder must be empty or not exist.

        :raises CannotExport: when it is not empty.
        """
        if folder.exists() and any(folder.iterdir()):
            raise CannotExport(f'{folder} is not empty: give a new folder')
        self._folder = folder
        self._fps = fps
        self._robot_type = robot_type
        self._features: dict[str, dict[str, Any]] = {}
        self._count = 0

    def add(self, frames: Iterable[RecordedFrame], task: str) -> int:
        """
        Write an episode; return how many frames it has.

        :param task: description of the task.
        :raises CannotExport: when it has no frames, or other features than earlier episodes.
        """
        number = 0
        for number, (frame, following) in enumerate(pairwise(chain(frames, [None])), 1):
            assert frame is not None  # only the last one is
            values = _values(frame, is_last=following is None)
            self._check(values)
            self._add_frame(values, number - 1, task)
        if not number:
            raise CannotExport(f'episode {self._count} has no frames')
        self._end_episode(number, task)
        self._count += 1
        return number

    def close(self) -> None:
        """
        Complete the dataset.

        :raises CannotExport: when there is no episode.
        """
        if not self._count:
            raise CannotExport('there is no episode to write')
        self._complete()

    def _check(self, values: dict[str, np.ndarray]) -> None:
        """Check that a frame has the features of the first one."""
        features = {name: _feature(name, value) for name, value in values.items()}
        if not self._features:
            self._features = features
            self._begin()
        elif features != self._features:
            found, wanted = (
                {name: each['shape'] for name, each in every.items()}
                for every in (features, self._features)
            )
            raise CannotExport(
                f'a frame of episode {self._count} has {found}, the first had {wanted}'
            )

    @abstractmethod
    def _begin(self) -> None: ...

    @abstractmethod
    def _add_frame(self, values: dict[str, np.ndarray], number: int, task: str) -> None: ...

    @abstractmethod
    def _end_episode(self, length: int, task: str) -> None: ...

    @abstractmethod
    def _complete(self) -> None: ...


def _values(frame: RecordedFrame, is_last: bool) -> dict[str, np.ndarray]:
    """Return the values of a frame by the name of their feature."""
    if frame.action is None:
        raise CannotExport('a frame has no action')
    parts = [np.atleast_1d(frame.state[name]) for name in sorted(frame.state)]
    if not parts:
        raise CannotExport('a frame has no state (no /proprio/... in the recording)')
    return {
        STATE: np.concatenate(parts).astype(np.float32),
        ACTION: np.asarray(frame.action, np.float32),
        REWARD: np.array([frame.reward], np.float32),
        DONE: np.array([is_last]),
    } | {f'{IMAGES}{name}': image for name, image in frame.images.items()}


def _feature(name: str, value: np.ndarray) -> dict[str, Any]:
    """Return the description of a feature, as `lerobot` takes it and info.json has it."""
    shape = list(value.shape)
    if name.startswith(IMAGES):
        if shape[0] % 2 or shape[1] % 2:
            raise CannotExport(f'{name}: {shape[1]}x{shape[0]} pixels, videos need even numbers')
        return {'dtype': 'video', 'shape': shape, 'names': ['height', 'width', 'channels']}
    kind = name.rpartition('.')[2]
    names = [f'{kind}_{i}' for i in range(shape[0])] if name in (STATE, ACTION) else None
    return {'dtype': value.dtype.name, 'shape': shape, 'names': names}


class LeRobotWriter(DatasetWriter):
    """Writes with the package `lerobot`."""

    label = 'by lerobot'

    def _begin(self) -> None:
        from lerobot.datasets.lerobot_dataset import LeRobotDataset

        if self._folder.exists():
            self._folder.rmdir()  # it creates the folder itself
        features = {
            name: {**each, 'shape': tuple(each['shape'])} for name, each in self._features.items()
        }
        self._dataset = LeRobotDataset.create(
            f'local/{self._folder.name}',
            self._fps,
            features,
            root=self._folder,
            robot_type=self._robot_type or None,
        )

    def _add_frame(self, values: dict[str, np.ndarray], number: int, task: str) -> None:
        self._dataset.add_frame({**values, 'task': task})

    def _end_episode(self, length: int, task: str) -> None:
        self._dataset.save_episode()

    def _complete(self) -> None:
        self._dataset.finalize()


class LayoutWriter(DatasetWriter):
    """Writes the documented layout, with pyarrow and av."""

    label = 'without lerobot'

    def __init__(self, folder: Path, fps: int, robot_type: str = '') -> None:
        super().__init__(folder, fps, robot_type)
        self._rows: dict[str, list[Any]] = {}
        self._episodes: list[dict[str, Any]] = []
        self._tasks: dict[str, int] = {}
        self._videos: dict[str, _Video] = {}

    @property
    def _total(self) -> int:
        return sum(episode['length'] for episode in self._episodes)

    def _begin(self) -> None:
        for key, feature in self._features.items():
            if feature['dtype'] == 'video':
                height, width, _ = feature['shape']
                place = VIDEO_PATH.format(video_key=key, chunk_index=0, file_index=0)
                self._videos[key] = _Video(self._folder / place, self._fps, width, height)

    def _add_frame(self, values: dict[str, np.ndarray], number: int, task: str) -> None:
        row: dict[str, Any] = {
            'timestamp': np.float32(number / self._fps),
            'frame_index': number,
            'episode_index': self._count,
            'index': self._total + number,
            'task_index': self._tasks.setdefault(task, len(self._tasks)),
        }
        for name, value in values.items():
            if name in self._videos:
                self._videos[name].add(value)
            else:
                row[name] = value
        for name, value in row.items():
            self._rows.setdefault(name, []).append(value)

    def _end_episode(self, length: int, task: str) -> None:
        begin = self._total
        row: dict[str, Any] = {
            'episode_index': self._count,
            'tasks': [task],
            'length': length,
            'data/chunk_index': 0,
            'data/file_index': 0,
            'dataset_from_index': begin,
            'dataset_to_index': begin + length,
        }
        for key in self._videos:
            row |= {
                f'videos/{key}/chunk_index': 0,
                f'videos/{key}/file_index': 0,
                f'videos/{key}/from_timestamp': begin / self._fps,
                f'videos/{key}/to_timestamp': (begin + length) / self._fps,
            }
        self._episodes.append(
            {**row, 'meta/episodes/chunk_index': 0, 'meta/episodes/file_index': 0}
        )

    def _complete(self) -> None:
        for video in self._videos.values():
            video.close()
        self._write_table(DATA_PATH.format(chunk_index=0, file_index=0), self._data())
        self._write_table(EPISODES_PATH, _columns(self._episodes))
        self._write_tasks()
        self._write_json('meta/info.json', self._info())
        self._write_json('meta/stats.json', self._stats())

    def _data(self) -> dict[str, Any]:
        import pyarrow

        columns: dict[str, Any] = {}
        for name in (STATE, ACTION):
            rows = np.stack(self._rows[name])
            flat = pyarrow.array(rows.ravel(), pyarrow.float32())
            columns[name] = pyarrow.FixedSizeListArray.from_arrays(flat, rows.shape[1])
        columns[REWARD] = pyarrow.array(np.concatenate(self._rows[REWARD]), pyarrow.float32())
        columns[DONE] = pyarrow.array(np.concatenate(self._rows[DONE]), pyarrow.bool_())
        columns['timestamp'] = pyarrow.array(self._rows['timestamp'], pyarrow.float32())
        for name in COLUMNS[1:]:
            columns[name] = pyarrow.array(self._rows[name], pyarrow.int64())
        return columns

    def _info(self) -> dict[str, Any]:
        whole = {
            name: {**each, 'info': self._video_info(each)} if name in self._videos else each
            for name, each in self._features.items()
        }
        whole['timestamp'] = {'dtype': 'float32', 'shape': [1], 'names': None}
        whole |= {name: {'dtype': 'int64', 'shape': [1], 'names': None} for name in COLUMNS[1:]}
        return {
            'codebase_version': VERSION,
            'robot_type': self._robot_type or None,
            'total_episodes': len(self._episodes),
            'total_frames': self._total,
            'total_tasks': len(self._tasks),
            'chunks_size': 1000,
            'data_files_size_in_mb': 100,
            'video_files_size_in_mb': 200,
            'fps': self._fps,
            'splits': {'train': f'0:{len(self._episodes)}'},
            'data_path': DATA_PATH,
            'video_path': VIDEO_PATH if self._videos else None,
            'features': whole,
        }

    def _video_info(self, feature: dict[str, Any]) -> dict[str, Any]:
        height, width, channels = feature['shape']
        return {
            'video.height': height,
            'video.width': width,
            'video.codec': 'h264',
            'video.pix_fmt': PIXEL_FORMAT,
            'video.is_depth_map': False,
            'video.fps': self._fps,
            'video.channels': channels,
            'has_audio': False,
        }

    def _stats(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, rows in self._rows.items():
            values = np.array(rows, np.float64).reshape(len(rows), -1)
            found[name] = statistics(values, np.ones(len(rows)), len(rows))
        levels = np.arange(256.0) / 255
        for key, video in self._videos.items():
            channels = [statistics(levels, counts, self._total) for counts in video.histogram]
            found[key] = {
                name: [[[channel[name]]] for channel in channels] for name in channels[0]
            } | {'count': [self._total]}
        return found

    def _write_tasks(self) -> None:
        """Write the table whose index is the task, as pandas stores it."""
        import pyarrow

        table = pyarrow.table(
            {'task_index': list(self._tasks.values()), 'task': list(self._tasks)}
        )
        column = dict.fromkeys(('name', 'field_name'), 'task')
        column |= {'pandas_type': 'unicode', 'numpy_type': 'object'}
        pandas = {'index_columns': ['task'], 'column_indexes': [], 'columns': [column]}
        table = table.replace_schema_metadata({'pandas': json.dumps(pandas)})
        self._write_table('meta/tasks.parquet', table)

    def _write_table(self, place: str, columns: Any) -> None:
        import pyarrow
        from pyarrow import parquet

        path = self._folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        table = pyarrow.table(columns) if isinstance(columns, dict) else columns
        parquet.write_table(table, path)

    def _write_json(self, place: str, values: Any) -> None:
        path = self._folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values, indent=4), encoding='utf-8')


class _Video:
    """
    All images of one camera, one after the other.

    :ivar histogram: of every eighth pixel and line, by colour channel, shape (3, 256).
    """

    def __init__(self, path: Path, fps: int, width: int, height: int) -> None:
        self.histogram = np.zeros((3, 256))
        self._av = require_av()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._container = self._av.open(str(path), 'w', format='mp4')
        self._stream = self._container.add_stream(CODEC, rate=fps, options=QUALITY)
        self._stream.width, self._stream.height = width, height
        self._stream.pix_fmt = PIXEL_FORMAT

    def add(self, image: np.ndarray) -> None:
        frame = self._av.VideoFrame.from_ndarray(np.ascontiguousarray(image), format='rgb24')
        self._container.mux(self._stream.encode(frame))
        for counts, channel in zip(self.histogram, image[::8, ::8].T, strict=True):
            counts += np.bincount(channel.ravel(), minlength=256)

    def close(self) -> None:
        self._container.mux(self._stream.encode())
        self._container.close()


def _columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


def statistics(values: np.ndarray, counts: np.ndarray, frames: int) -> dict[str, Any]:
    """
    Return the statistics of one feature, as the dataset stores them.

    :param values: shape (n,) or (n, size); `counts` how often each occurred, shape (n,).
    :param frames: number of frames behind them.
    """
    occurring = values[counts > 0]
    mean = np.average(values, 0, counts)
    deviation = np.sqrt(np.average((values - mean) ** 2, 0, counts))
    found = {'min': occurring.min(0), 'max': occurring.max(0), 'mean': mean, 'std': deviation}
    return {name: value.tolist() for name, value in found.items()} | {'count': [frames]}


def fps_of(times: Iterable[float]) -> int:
    """
    Return the whole number of frames per second of some times (s).

    :raises CannotExport: when there are fewer than two frames.
    """
    gaps = np.diff(list(times))
    if not len(gaps) or np.median(gaps) <= 0:
        raise CannotExport('an episode with fewer than two frames has no rate: give --fps')
    return max(1, round(1.0 / float(np.median(gaps))))


def choose_writer() -> type[DatasetWriter]:
    """Return the writer that uses `lerobot` if it is installed, else our own."""
    try:
        import lerobot.datasets.lerobot_dataset  # noqa: F401
    except ImportError:
        return LayoutWriter
    return LeRobotWriter


def write_dataset(
    dataset: DatasetWriter, episodes: Iterable[Iterable[RecordedFrame]], task: str
) -> Iterator[int]:
    """
    Write episodes as a dataset; yield the number of frames of each.

    :raises CannotExport: when they do not fit together.
    """
    for frames in episodes:
        yield dataset.add(frames, task)
    dataset.close()


__all__ = [
    'CannotExport',
    'DatasetWriter',
    'LayoutWriter',
    'LeRobotWriter',
    'choose_writer',
    'fps_of',
    'write_dataset',
]
