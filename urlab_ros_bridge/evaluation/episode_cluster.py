# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Episodes on the machines of a Ray cluster: each is a task, which Ray places and repeats.

A task returns the result, which is small; a recording is written where the task runs.  Ray copies
the user's working folder to all machines.  A worker keeps its simulation for the next task:
to start one costs more than an episode.
"""

from __future__ import annotations

import atexit
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import asdict
from dataclasses import dataclass
from dataclasses import replace
import functools
from importlib import metadata
from itertools import islice
import json
import os
from pathlib import Path
import platform
from queue import SimpleQueue
import secrets
from typing import Any

from urlab_ros_bridge import __version__
from urlab_ros_bridge.evaluation.episode_files import EpisodeRow
from urlab_ros_bridge.evaluation.episode_files import RunSettings
from urlab_ros_bridge.evaluation.episode_pool import WorkerFailed
from urlab_ros_bridge.evaluation.episode_worker import Assignment
from urlab_ros_bridge.evaluation.episode_worker import EpisodeRunner
from urlab_ros_bridge.evaluation.episode_worker import MARK
from urlab_ros_bridge.evaluation.episode_worker import ONE_THREAD
from urlab_ros_bridge.wire.errors import UrlabError

LOCAL = 'local'
# Ray repeats a task when its worker or machine dies.
MAX_RETRIES = 3
# Limit of submitted tasks: each costs the driver some kB.
MAX_PENDING = 10_000
# Packages that the bits of a result depend on, besides the user's files.
_PACKAGES = ('mujoco', 'numpy')
_DEFAULTS = {
    'RAY_AUTH_MODE': 'token',
    'RAY_USAGE_STATS_ENABLED': '0',  # otherwise Ray sends usage statistics
}
# On Linux Ray binds all interfaces, whatever its address; this makes it behave as on systems where
# it has no clusters.
_ON_LOOPBACK = {'RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER': '0'}


class UnfitMachine(UrlabError):
    """A machine of the cluster would not reproduce the results of this one."""

    def __init__(self, why: str) -> None:
        super().__init__(f'on {platform.node()}: {why}')


@dataclass(frozen=True)
class ClusterAssignment:
    """
    What a worker of the cluster needs to know.

    :ivar versions: of the packages of the driver's machine.
    :ivar marker: name of a file in the folder of recordings, by which the worker knows it.
    """

    episodes: Assignment
    versions: dict[str, str]
    marker: str = ''

    def text(self) -> str:
        """Return it as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def of(cls, text: str) -> ClusterAssignment:
        """Parse the result of `text`."""
        values = json.loads(text)
        return cls(Assignment(**values['episodes']), values['versions'], values['marker'])


class EpisodeCluster:
    """Runs episodes on a Ray cluster; used as a context, in which this process is its driver."""

    def __init__(
        self,
        assignment: Assignment,
        address: str,
        workers: int = 0,
        excluded: Sequence[str] = (),
    ) -> None:
        """
        Connect to nothing yet.

        :param address: `local` for a cluster of this machine alone, which ends with the context,
            or what `ray.init` takes.
        :param workers: how many episodes at the same time; 0: one for each processor.
        :param excluded: paths in the working folder that the cluster does not get.
        :raises ImportError: without Ray.
        """
        for name, value in _DEFAULTS.items():
            os.environ.setdefault(name, value)
        if address == LOCAL:
            os.environ.update(_ON_LOOPBACK)
            # Known only to this process and its children.
            os.environ.setdefault('RAY_AUTH_TOKEN', secrets.token_hex(32))
        import ray

        self._ray = ray
        self._assignment = assignment
        self._address = address
        self._workers = workers
        self._excluded = _inside(excluded)
        self._held = ExitStack()

    def __enter__(self) -> EpisodeCluster:
        ray = self._ray
        own: dict[str, Any] = {}
        if self._address == LOCAL:
            own = {'include_dashboard': False}
            own |= {'num_cpus': self._workers} if self._workers else {}
        try:
            ray.init(
                address=self._address,
                runtime_env={
                    'working_dir': str(Path.cwd()),
                    'excludes': self._excluded,
                    'env_vars': {name: os.environ.get(name, '1') for name in ONE_THREAD},
                },
                logging_level='warning',
                log_to_driver=False,
                **own,
            )
        except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
            raise WorkerFailed(f'no Ray cluster at {self._address!r}: {error}') from error
        self._held.callback(ray.shutdown)
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def run(self, episodes: Iterable[int]) -> Iterator[EpisodeRow]:
        """
        Run episodes; yield each as soon as its task has ended.

        :raises WorkerFailed: when one fails, or kills its workers again and again.
        """
        task = self._ray.remote(run_episode).options(num_cpus=1, max_retries=MAX_RETRIES)
        assignment = self._shared_assignment().text()
        ended: SimpleQueue[tuple[int, Future[dict[str, Any]]]] = SimpleQueue()

        def start(index: int) -> None:
            future = task.remote(assignment, index).future()
            future.add_done_callback(lambda done: ended.put((index, done)))

        waiting, running = iter(episodes), 0
        for index in islice(waiting, self._workers or MAX_PENDING):
            start(index)
            running += 1
        while running:
            index, done = ended.get()
            running -= 1
            for following in islice(waiting, 1):
                start(following)
                running += 1
            yield self._row(index, done)

    def _row(self, index: int, done: Future[dict[str, Any]]) -> EpisodeRow:
        try:
            answer = done.result()
        except self._ray.exceptions.RayError as error:
            raise WorkerFailed(f'episode {index} could not be run: {error}') from error
        if 'failed' in answer:
            raise WorkerFailed(f'episode {index} failed: {answer["failed"]}')
        return EpisodeRow.of(answer)

    def _shared_assignment(self) -> ClusterAssignment:
        """Mark the folder of recordings, so that a worker can tell whether it has the same one."""
        if not self._assignment.record:
            return ClusterAssignment(self._assignment, versions())
        folder = Path(self._assignment.record).absolute()
        marker = folder / f'{MARK}{secrets.token_hex(8)}'
        marker.touch()
        self._held.callback(marker.unlink, missing_ok=True)
        episodes = replace(self._assignment, record=str(folder))
        return ClusterAssignment(episodes, versions(), marker.name)


def versions() -> dict[str, str]:
    """Return the versions that results depend on; empty for packages that are not installed."""
    found = {'urlab_ros_bridge': __version__}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = ''
    return found


def run_episode(assignment: str, index: int) -> dict[str, Any]:
    """Run an episode in a worker of Ray; return its result or the error."""
    try:
        return _runner(assignment).run(index).values()
    except (UrlabError, OSError) as error:
        return {'failed': str(error)}


@functools.lru_cache(maxsize=1)
def _runner(text: str) -> EpisodeRunner:
    """Return the simulation of this process."""
    assignment = ClusterAssignment.of(text)
    check_machine(assignment)
    runner = EpisodeRunner(assignment.episodes)
    atexit.register(runner.close)
    return runner


def check_machine(assignment: ClusterAssignment) -> None:
    """
    Refuse to run episodes that would differ from those of the driver.

    :raises UnfitMachine: for another version of a package, another file, or another folder.
    """
    for name, here in versions().items():
        wanted = assignment.versions.get(name)
        if wanted and here != wanted:
            raise UnfitMachine(
                f'{name} is {here or "missing"}, but {wanted} where urlab eval runs'
            )
    driver = RunSettings(**assignment.episodes.settings)
    try:
        found = RunSettings.of(
            driver.world,
            driver.profile,
            driver.policy,
            driver.max_steps,
            driver.first_seed,
        )
    except ImportError as error:
        raise UnfitMachine(f'policy {driver.policy!r} cannot be imported: {error}') from error
    for name in ('world', 'profile', 'policy'):
        if getattr(found, f'{name}_digest') != getattr(driver, f'{name}_digest'):
            raise UnfitMachine(
                f'{name} {getattr(driver, name)!r} is missing or differs from the one where urlab '
                'eval runs; keep it in the folder where you start urlab eval'
            )
    record = assignment.episodes.record
    if record and not Path(record, assignment.marker).exists():
        raise UnfitMachine(
            f'the folder {record} of --record is not the one where urlab eval runs: give one that '
            'all machines share'
        )


def _inside(paths: Sequence[str]) -> list[str]:
    """Return those paths that are in the working folder, relative to it, as patterns for Ray."""
    here = Path.cwd()
    found = (Path(path).absolute() for path in paths if path)
    return [f'/{path.relative_to(here)}' for path in found if here in path.parents]


__all__ = [
    'LOCAL',
    'ClusterAssignment',
    'EpisodeCluster',
    'UnfitMachine',
    'check_machine',
    'run_episode',
    'versions',
]
