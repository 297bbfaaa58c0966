# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Results of episodes in a folder: one file an episode, and a table of all of them as Parquet.

An episode is named by what decides it: world, profile, policy, seed, index.  Its file is written
under another name and moved, so it is there whole or not at all, and an evaluation that was
killed goes on with the episodes that are missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from dataclasses import dataclass
from dataclasses import fields
import hashlib
import importlib
import json
import os
from pathlib import Path
from typing import Any
from typing import Self

import numpy as np

from urlab_ros_bridge.gateways.chiral.errors import ChiralError
from urlab_ros_bridge.gateways.chiral.evaluation.episodes import EpisodeResult
from urlab_ros_bridge.gateways.chiral.protocol.codec import Observation

PURPOSE_FILE = 'evaluation.json'
TABLE = 'results.parquet'


class OtherEvaluation(ChiralError):
    """The folder holds the results of another evaluation."""

    def __init__(self, folder: Path, name: str, there: object, wanted: object) -> None:
        super().__init__(
            f'{folder} holds the results of another evaluation: its {name} is {there!r:.80}, '
            f'this one has {wanted!r:.80}; give another folder'
        )


class DamagedResult(ChiralError):
    """A result file cannot be read."""

    def __init__(self, path: Path, why: object) -> None:
        super().__init__(f'{path} cannot be read ({why}); remove it to run its episode again')


@dataclass(frozen=True, slots=True)
class Purpose:
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
        """Return the purpose of these words, with digests of the files that they name."""
        module = importlib.import_module(policy.partition(':')[0])
        source = getattr(module, '__file__', None) or ''
        digests = map(digest_of_file, (world, profile, source))
        return cls(world, profile, policy, max_steps, first_seed, *digests)


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    """
    One episode in the table.

    :ivar digest: of every number that the policy saw and did; equal for equal episodes.
    """

    world: str
    profile: str
    policy: str
    index: int
    result: EpisodeResult
    digest: str

    def flat(self) -> dict[str, Any]:
        """Return the columns of the table."""
        values = {name.name: getattr(self, name.name) for name in fields(self)}
        return {**values, **asdict(self.result), 'result': None}


class Digest:
    """A log of an episode that keeps nothing but a digest of it."""

    def __init__(self) -> None:
        self._sum = hashlib.sha256()

    def add(self, seen: Observation, action: np.ndarray | None) -> None:
        """Take every number that is not of the wall clock."""
        for view in seen.cameras:
            for values in (view.image, view.depth, view.intrinsics, view.extrinsics):
                self._array(view.name, values)
        for name, values in seen.proprios.items():
            self._array(name, values)
        self._array('action', action)
        told = {key: seen.extra.get(key) for key in ('sim_time', 'reward', 'success')}
        self._sum.update(repr(told).encode())

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
    """The folder of one evaluation; used by the driver and by its workers at the same time."""

    def __init__(self, folder: Path, purpose: Purpose) -> None:
        """
        Begin the folder, or go on with it.

        :raises OtherEvaluation: when it belongs to another one.
        :raises OSError: when it cannot be written.
        """
        self.folder = folder
        self.purpose = purpose
        self._episodes = folder / 'episodes'
        self._episodes.mkdir(parents=True, exist_ok=True)
        path = folder / PURPOSE_FILE
        if path.exists():
            there = _read(path)
            for name, wanted in asdict(purpose).items():
                if there.get(name) != wanted:
                    raise OtherEvaluation(folder, name, there.get(name), wanted)
        else:
            write_whole(path, json.dumps(asdict(purpose), indent=1).encode())

    def path_of(self, index: int) -> Path:
        """Return the file of an episode."""
        return self._episodes / f'{index:06d}.json'

    def add(self, index: int, result: EpisodeResult, digest: str) -> None:
        """Keep an episode; from now on it counts as done."""
        values = {'index': index, 'digest': digest, **asdict(result)}
        write_whole(self.path_of(index), json.dumps(values).encode())

    def read(self, index: int) -> EpisodeRow | None:
        """
        Return an episode, None when it was not run.

        :raises DamagedResult: when its file makes no sense.
        """
        path = self.path_of(index)
        if not path.exists():
            return None
        values, purpose = _read(path), self.purpose
        try:
            names = [each.name for each in fields(EpisodeResult)]
            result = EpisodeResult(**{name: values[name] for name in names})
            if result.seed != purpose.first_seed + index:
                raise ValueError(f'its seed is {result.seed}')
            digest = str(values['digest'])
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedResult(path, error) from error
        return EpisodeRow(purpose.world, purpose.profile, purpose.policy, index, result, digest)

    def write_table(self, rows: Sequence[EpisodeRow]) -> Path:
        """
        Write all episodes as Parquet, in order.

        :raises ImportError: without pyarrow.
        """
        import pyarrow
        from pyarrow import parquet

        flat = [row.flat() for row in rows]
        for values in flat:
            del values['result']
        sink = pyarrow.BufferOutputStream()
        parquet.write_table(pyarrow.Table.from_pylist(flat), sink)
        path = self.folder / TABLE
        write_whole(path, sink.getvalue().to_pybytes())
        return path


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all, even when this process is killed."""
    part = path.with_name(f'.{path.name}.{os.getpid()}')
    with part.open('wb') as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def digest_of_file(name: str) -> str:
    """Return the SHA-256 of a file, empty when the name is none of a file."""
    path = Path(name)
    return hashlib.sha256(path.read_bytes()).hexdigest() if name and path.is_file() else ''


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except ValueError as error:
        raise DamagedResult(path, error) from error
    if not isinstance(found, dict):
        raise DamagedResult(path, 'not an object')
    return found


__all__ = [
    'DamagedResult',
    'Digest',
    'EpisodeFiles',
    'EpisodeRow',
    'OtherEvaluation',
    'Purpose',
    'write_whole',
]
