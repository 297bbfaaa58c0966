# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Results of episodes in a folder: a log with one line an episode, and a table of them as Parquet.

An episode is identified by world, profile, policy, seed and index.  Its line is appended at its
end, and an incomplete line, left by a kill, is dropped.  So each episode is in the log whole or
not at all, and an evaluation that was killed continues with the missing episodes.

One log and not one file an episode: a file each costs a hundred times as much, which is what the
driver of a large cluster would spend all its time on (docs/policy.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import asdict
from dataclasses import dataclass
from dataclasses import fields
import errno
import fcntl
import hashlib
import importlib
import json
import os
from pathlib import Path
import time
from typing import Any
from typing import Self

import numpy as np

from urlab_ros_bridge.evaluation.episodes import EpisodeResult
from urlab_ros_bridge.files.whole_file import write_whole
from urlab_ros_bridge.gateways.chiral.errors import ChiralError
from urlab_ros_bridge.gateways.chiral.protocol.codec import Observation

SETTINGS_FILE = 'evaluation.json'
LOG = 'episodes.jsonl'
TABLE = 'results.parquet'
# Results that a power cut may lose (s); the end of this process loses nothing.
_SYNC_SECONDS = 1.0
_RESULT_FIELDS = tuple(each.name for each in fields(EpisodeResult))


class OtherEvaluation(ChiralError):
    """The folder holds the results of another evaluation."""

    def __init__(self, folder: Path, name: str, there: object, wanted: object) -> None:
        super().__init__(
            f'{folder} holds the results of another evaluation: its {name} is {there!r:.80}, '
            f'this one has {wanted!r:.80}; give another folder'
        )


class EvaluationRuns(ChiralError):
    """Another process writes results into the folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f'{folder} is in use by another evaluation: wait until it ends, or give another folder'
        )


class DamagedResult(ChiralError):
    """A file of results cannot be read."""

    def __init__(self, path: Path, why: object, remedy: str) -> None:
        super().__init__(f'{path} cannot be read ({why}); {remedy}')


@dataclass(frozen=True, slots=True)
class RunSettings:
    """
    What is evaluated; together with seed and index it names an episode.

    :ivar world: bundled world or file; `world_digest` of the file, empty for a bundled one.
    :ivar policy: as typed; `policy_digest` of the file that it is defined in.
    """

    world: str
    profile: str
    policy: str
    max_steps: int
    first_seed: int
    world_digest: str = ''
    profile_digest: str = ''
    policy_digest: str = ''

    @classmethod
    def of(cls, world: str, profile: str, policy: str, max_steps: int, first_seed: int) -> Self:
        """Return the settings of these arguments, with digests of the files that they name."""
        module = importlib.import_module(policy.partition(':')[0])
        source = getattr(module, '__file__', None) or ''
        digests = map(digest_of_file, (world, profile, source))
        return cls(world, profile, policy, max_steps, first_seed, *digests)


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    """
    One episode that was run.

    :ivar digest: of every number that the policy saw and did; equal for equal episodes.
    """

    index: int
    digest: str
    result: EpisodeResult

    def values(self) -> dict[str, Any]:
        """Return it as one flat map, as in the log and the table."""
        return {'index': self.index, 'digest': self.digest, **asdict(self.result)}

    @classmethod
    def of(cls, values: dict[str, Any]) -> Self:
        """
        Return the row of a flat map.

        :raises KeyError, TypeError, ValueError: when it is none.
        """
        result = EpisodeResult(**{name: values[name] for name in _RESULT_FIELDS})
        if not isinstance(result.seed, int) or not isinstance(result.steps, int):
            raise TypeError('seed and steps are integers')
        return cls(int(values['index']), str(values['digest']), result)


class Digest:
    """A log of an episode that keeps only a digest of it."""

    def __init__(self) -> None:
        self._sum = hashlib.sha256()

    def add(self, seen: Observation, action: np.ndarray | None) -> None:
        """Add all numbers except those of the wall clock."""
        for view in seen.cameras:
            for values in (view.image, view.depth, view.intrinsics, view.extrinsics):
                self._array(view.name, values)
        for name, values in seen.proprios.items():
            self._array(name, values)
        self._array('action', action)
        extra = {key: seen.extra.get(key) for key in ('sim_time', 'reward', 'success')}
        self._sum.update(repr(extra).encode())

    def close(self, summary: dict[str, str]) -> None:
        """Do nothing."""

    @property
    def text(self) -> str:
        """Return the digest as hexadecimal digits."""
        return self._sum.hexdigest()

    def _array(self, name: str, values: np.ndarray | None) -> None:
        if values is not None:
            values = np.ascontiguousarray(values)
            self._sum.update(f'{name} {values.dtype} {values.shape}'.encode())
            self._sum.update(values.data)


class EpisodeFiles:
    """
    The folder of one evaluation, open in one process at a time; used as a context.

    :ivar rows: by index, the episodes that were run.
    """

    def __init__(self, folder: Path, settings: RunSettings) -> None:
        """
        Create the folder, or continue with it.

        :raises OtherEvaluation: when it belongs to another one.
        :raises EvaluationRuns: when another process has it open.
        :raises DamagedResult: when a file in it is damaged.
        :raises OSError: when it cannot be written.
        """
        self.folder = folder
        self.settings = settings
        folder.mkdir(parents=True, exist_ok=True)
        # Unbuffered: the kernel has the line when `add` returns.
        self._log = (folder / LOG).open('a+b', buffering=0)
        try:
            self._lock()
            self._check_settings()
            self.rows = self._read_log()
        except BaseException:
            self._log.close()
            raise
        self._synced = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.fsync(self._log.fileno())
        self._log.close()

    def add(self, row: EpisodeRow) -> None:
        """
        Keep an episode; from now on it counts as run.  It is kept once, however often it is run.

        :raises OSError: when it cannot be written.
        """
        if row.index in self.rows:
            return
        line = json.dumps(row.values()).encode() + b'\n'
        if self._log.write(line) != len(
            line
        ):  # the incomplete line is removed when the log is opened next
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.folder / LOG))
        self.rows[row.index] = row
        now = time.monotonic()
        if now - self._synced > _SYNC_SECONDS:
            os.fsync(self._log.fileno())
            self._synced = now

    def write_table(self, rows: Sequence[EpisodeRow]) -> Path:
        """
        Write episodes as Parquet, in the order given.

        :raises ImportError: without pyarrow.
        """
        named = {name: getattr(self.settings, name) for name in ('world', 'profile', 'policy')}
        path = self.folder / TABLE
        write_parquet(path, [named | row.values() for row in rows])
        return path

    def _lock(self) -> None:
        try:
            fcntl.flock(self._log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise EvaluationRuns(self.folder) from None

    def _check_settings(self) -> None:
        path = self.folder / SETTINGS_FILE
        if not path.exists():
            write_whole(path, json.dumps(asdict(self.settings), indent=1).encode(), sync=True)
            return
        try:
            there = json.loads(path.read_bytes())
            if not isinstance(there, dict):
                raise ValueError('not an object')
        except ValueError as error:
            raise DamagedResult(path, error, 'give another folder') from error
        for name, wanted in asdict(self.settings).items():
            if there.get(name) != wanted:
                raise OtherEvaluation(self.folder, name, there.get(name), wanted)

    def _read_log(self) -> dict[int, EpisodeRow]:
        """Return the rows of the log; an incomplete last line is removed."""
        rows: dict[int, EpisodeRow] = {}
        self._log.seek(0)
        with open(self._log.fileno(), 'rb', closefd=False) as file:
            whole = 0
            for number, line in enumerate(file, 1):
                if not line.endswith(b'\n'):
                    self._log.truncate(whole)
                    break
                whole += len(line)
                row = self._read_line(number, line)
                rows.setdefault(row.index, row)
        return rows

    def _read_line(self, number: int, line: bytes) -> EpisodeRow:
        try:
            row = EpisodeRow.of(json.loads(line))
            seed = self.settings.first_seed + row.index
            if row.result.seed != seed:
                raise ValueError(f'its seed is {row.result.seed}, not {seed}')
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            remedy = f'remove line {number} to run its episode again'
            raise DamagedResult(self.folder / LOG, f'line {number}: {error!r}', remedy) from error
        return row


def write_parquet(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """
    Write rows with equal keys as a Parquet file, whole or not at all.

    :raises ImportError: without pyarrow.
    """
    import pyarrow
    from pyarrow import parquet

    sink = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.Table.from_pylist([dict(row) for row in rows]), sink)
    write_whole(path, sink.getvalue().to_pybytes(), sync=True)


def digest_of_file(name: str) -> str:
    """Return the SHA-256 of a file, '' if there is no such file."""
    path = Path(name)
    return hashlib.sha256(path.read_bytes()).hexdigest() if name and path.is_file() else ''


__all__ = [
    'DamagedResult',
    'Digest',
    'EpisodeFiles',
    'EpisodeRow',
    'EvaluationRuns',
    'OtherEvaluation',
    'RunSettings',
    'write_parquet',
]
