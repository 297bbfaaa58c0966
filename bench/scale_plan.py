#!/usr/bin/env python3
# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Where `urlab eval --ray` would saturate on very many machines, which are simulated.

What one episode takes, and how many bytes it makes, is measured here with a real simulation.  Then
workers that only exist in a queue of events send results to the real driver: the log of results
and the progress bar, as they are, in real time.  The table shows from how many machines on
the driver falls behind.  With --ray, its own cost of a task is measured as well, on a local
cluster whose tasks return results that were made before.

What others do on this machine makes everything late; so the plan goes by processor time, and the
column `core needed` is what the driver would take of one core for all results that are offered.

Goal: the driver, without Ray, keeps up with 1,000 machines of 16 cores.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
import contextlib
from dataclasses import asdict
from dataclasses import dataclass
import heapq
import importlib.util
import itertools
from pathlib import Path
import resource
import sys
import tempfile
import time
from typing import Any

import numpy as np
from ratios import note
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from urlab_ros_bridge.evaluation import episode_cluster
from urlab_ros_bridge.evaluation.episode_cluster import EpisodeCluster
from urlab_ros_bridge.evaluation.episode_files import EpisodeFiles
from urlab_ros_bridge.evaluation.episode_files import EpisodeRow
from urlab_ros_bridge.evaluation.episode_files import RunSettings
from urlab_ros_bridge.evaluation.episode_worker import Assignment
from urlab_ros_bridge.evaluation.episode_worker import EpisodeRunner
from urlab_ros_bridge.evaluation.episode_worker import recording_of
from urlab_ros_bridge.evaluation.evaluate import PROGRESS
from urlab_ros_bridge.files.whole_file import write_whole

MACHINES = (1, 10, 100, 1_000, 10_000)
CORES = 16
GOAL_MACHINES = 1_000
# Behind by more than this share of the time that has passed: it will never catch up.
BEHIND = 0.05
POLICY = 'def hold(seen):\n    return seen.proprios["joint_pos"]\n'
MANY = 10**9


@dataclass(frozen=True)
class Episode:
    """
    What one episode costs.

    :ivar seconds: of processor time, of each episode that was run; `wall` of real time.
    :ivar row: its result.
    :ivar row_bytes: of its line in the log; `recording_bytes` of its MCAP file.
    """

    seconds: np.ndarray
    wall: np.ndarray
    start: float
    row: dict[str, Any]
    row_bytes: int
    recording_bytes: int


def measured(folder: Path, count: int, steps: int) -> Episode:
    """Run episodes one after the other, in this process."""
    (folder / 'scale_policy.py').write_text(POLICY)
    (folder / 'profile.yaml').write_text('cameras: []\n')
    sys.path.insert(0, str(folder))
    settings = RunSettings.of(
        'quadruped', str(folder / 'profile.yaml'), 'scale_policy:hold', steps, 0
    )
    begun = time.perf_counter()
    with EpisodeRunner(Assignment(asdict(settings), str(folder))) as runner:
        runner.run(0)
        start = time.perf_counter() - begun
        times, walls, row = [], [], None
        for index in range(1, count + 1):
            begun, spent = time.perf_counter(), time.process_time()
            row = runner.run(index)
            times.append(time.process_time() - spent)
            walls.append(time.perf_counter() - begun)
    assert row is not None
    with EpisodeFiles(folder / 'one', settings) as files:
        files.add(row)
    size = recording_of(folder, row.index).stat().st_size
    log = folder / 'one' / 'episodes.jsonl'
    return Episode(np.array(times), np.array(walls), start, row.values(), log.stat().st_size, size)


class SimulatedCluster:
    """Workers in a queue of events; they send results in real time, as `EpisodeCluster` does."""

    def __init__(self, episode: Episode, machines: int, cores: int) -> None:
        self._slots = machines * cores
        self._row = episode.row
        self._random = np.random.default_rng(1)
        self._times = episode.seconds
        mean = float(episode.seconds.mean())
        self.offered = self._slots / mean
        self.behind = 0.0
        self.lasted = 0.0

    def run(self, seconds: float) -> Iterator[EpisodeRow]:
        """Yield the results of so many seconds; note how late the last ones were taken."""
        span = float(self._times.mean())
        due = [
            (when, slot) for slot, when in enumerate(self._random.uniform(0, span, self._slots))
        ]
        heapq.heapify(due)
        picks = itertools.cycle(self._random.choice(self._times, 1 << 16).tolist())
        index = itertools.count()
        begun = time.perf_counter()
        while due[0][0] < seconds:
            when, slot = due[0]
            heapq.heapreplace(due, (when + next(picks), slot))
            self.behind = max(0.0, time.perf_counter() - begun - when)
            if self.behind == 0.0:
                time.sleep(max(0.0, when - (time.perf_counter() - begun)))
            yield EpisodeRow.of({**self._row, 'index': next(index)})
        self.lasted = time.perf_counter() - begun


def drive(folder: Path, cluster: SimulatedCluster, seconds: float) -> tuple[int, float]:
    """Let the real driver take results; return how many, and its processor time for each (s)."""
    count = 0
    spent = time.process_time()
    with (
        EpisodeFiles(folder, RunSettings('quadruped', '', 'scale_policy:hold', 300, 0)) as files,
        Progress(*PROGRESS, console=Console(stderr=True)) as progress,
    ):
        task = progress.add_task('episodes', total=MANY)
        for row in cluster.run(seconds):
            files.add(row)
            progress.advance(task)
            count += 1
    return count, (time.process_time() - spent) / max(count, 1)


def saturation(episode: Episode, folder: Path, seconds: float, cores: int) -> Table:
    """Return the table of simulated clusters; hand over the ratio of the goal."""
    table = Table(title=f'Machines of {cores} cores, simulated', title_justify='left')
    for name in ('machines', 'results/s', 'taken/s', 'core needed', 'log MB/s', 'MCAP MB/s', ''):
        table.add_column(name, justify='right')
    for machines in MACHINES:
        cluster = SimulatedCluster(episode, machines, cores)
        count, each = drive(folder / f'of_{machines}', cluster, seconds)
        taken = count / cluster.lasted
        late = cluster.behind > max(0.2, BEHIND * seconds)
        if machines == GOAL_MACHINES:
            note('1,000 machines', min(1.0, seconds / cluster.lasted), to='offered')
            table.caption = f'{each * 1e6:.1f} us of the driver for a result'
        table.add_row(
            f'{machines:,}',
            f'{cluster.offered:,.0f}',
            f'{taken:,.0f}',
            f'{each * cluster.offered:.1%}',
            f'{taken * episode.row_bytes / 1e6:.2f}',
            f'{cluster.offered * episode.recording_bytes / 1e6:,.0f}',
            f'falls behind: {cluster.lasted:.1f} s for {seconds:g} s' if late else 'keeps up',
        )
    return table


def writers(episode: Episode, folder: Path) -> Table:
    """Return what it costs to keep a result, in one log and in one file each."""
    title = 'What a result costs the driver, in microseconds'
    table = Table('step', 'processor', 'real time', title=title, title_justify='left')
    rows = [
        EpisodeRow.of({**episode.row, 'index': index, 'seed': index}) for index in range(50_000)
    ]

    @contextlib.contextmanager
    def timed(step: str, count: int) -> Iterator[None]:
        begun, spent = time.perf_counter(), time.process_time()
        yield
        took = (time.process_time() - spent, time.perf_counter() - begun)
        table.add_row(step, *(f'{seconds / count * 1e6:.1f}' for seconds in took))

    settings = RunSettings('quadruped', '', '', 300, 0)
    with EpisodeFiles(folder / 'log', settings) as files:
        with timed('into the log', len(rows)):
            for row in rows:
                files.add(row)
        with timed('into the table, at the end', len(rows)):
            files.write_table(rows)
    before = resident_bytes()
    with timed('read back, to go on', len(rows)):
        files = EpisodeFiles(folder / 'log', settings)
    kept = (resident_bytes() - before) / len(files.rows)
    table.caption = f'{kept:.0f} bytes of memory for each'
    with files, timed('into a file of its own, in place of the log', 500):
        for row in rows[:500]:
            write_whole(folder / f'{row.index:06d}.json', repr(row.values()).encode(), sync=True)
    return table


def resident_bytes() -> int:
    """Return the memory of this process."""
    pages = int(Path('/proc/self/statm').read_text(encoding='ascii').split()[1])
    return pages * resource.getpagesize()


def ray_seconds(episode: Episode, folder: Path, count: int = 600) -> float:
    """Return the driver's processor time for a task of Ray that does nothing (s)."""
    run_real = episode_cluster.run_episode
    episode_cluster.run_episode = lambda _, index: {**episode.row, 'index': index}
    try:
        with (
            contextlib.chdir(folder),
            EpisodeCluster(Assignment({}), episode_cluster.LOCAL, 2) as cluster,
        ):
            rows = cluster.run(range(count))
            next(rows)  # workers have started
            spent = time.process_time()
            taken = sum(1 for _ in rows)
            return (time.process_time() - spent) / taken
    finally:
        episode_cluster.run_episode = run_real


def main() -> int:
    """Measure, simulate, print."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--seconds', type=float, default=4.0, help='of each simulated cluster')
    parser.add_argument('--episodes', type=int, default=10, help='that are measured')
    parser.add_argument('--steps', type=int, default=300, help='of each episode')
    parser.add_argument('--cores', type=int, default=CORES, help='of each machine')
    parser.add_argument('--ray', action='store_true', help="Ray's own cost too")
    parser.add_argument('--price', type=float, default=0.04, help='of a core for an hour')
    options = parser.parse_args()
    console = Console(width=99)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        episode = measured(folder, options.episodes, options.steps)
        mean = float(episode.seconds.mean())
        console.print(
            f'An episode of {options.steps} steps (quadruped, no cameras): {mean:.3f} s of '
            f'processor time, {episode.wall.mean():.3f} s here; start and first one '
            f'{episode.start:.1f} s; a result {episode.row_bytes} bytes, an MCAP '
            f'{episode.recording_bytes / 1e3:.0f} kB.'
        )
        for count in (10**6, 10**8):
            hours = count * mean / 3600
            console.print(
                f'{count:,} episodes: {hours:,.0f} hours of a core = {hours * options.price:,.0f} '
                f'at {options.price:g} an hour, {count * episode.row_bytes / 1e9:.2f} GB of '
                f'results, {count * episode.recording_bytes / 1e12:.2f} TB of MCAP'
            )
        console.print(writers(episode, folder))
        console.print(saturation(episode, folder, options.seconds, options.cores))
        if options.ray and importlib.util.find_spec('ray'):
            each = ray_seconds(episode, folder / 'one')
            console.print(f'Ray takes {each * 1e3:.1f} ms of the driver for a task')
    return 0


if __name__ == '__main__':
    sys.exit(main())
