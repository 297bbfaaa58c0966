# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Evaluate a policy: on one server, or in workers that each have their own simulation.

Both show a progress bar on stderr, and print a table of the episodes at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
import sys

from rich.console import Console
from rich.progress import BarColumn
from rich.progress import MofNCompleteColumn
from rich.progress import Progress
from rich.progress import ProgressColumn
from rich.progress import Task
from rich.progress import TextColumn
from rich.progress import TimeRemainingColumn
from rich.text import Text

from urlab_ros_bridge.evaluation.episode_files import EpisodeFiles
from urlab_ros_bridge.evaluation.episode_files import RunSettings
from urlab_ros_bridge.evaluation.episode_files import write_parquet
from urlab_ros_bridge.evaluation.episode_log import EpisodeLog
from urlab_ros_bridge.evaluation.episode_video import EpisodeVideo
from urlab_ros_bridge.evaluation.episode_video import require_av
from urlab_ros_bridge.evaluation.episodes import EpisodeResult
from urlab_ros_bridge.evaluation.episodes import Evaluation
from urlab_ros_bridge.evaluation.episodes import load_policy
from urlab_ros_bridge.evaluation.episodes import Log
from urlab_ros_bridge.evaluation.episodes import results_table
from urlab_ros_bridge.files import require_mcap
from urlab_ros_bridge.gateways.chiral.client import ChiralClient

# Limit of episodes that are printed individually; the files contain all of them.
MAX_TABLE_ROWS = 100
PIPED_COLUMNS = 99


class RateColumn(ProgressColumn):
    """The episodes per second."""

    def render(self, task: Task) -> Text:
        """Return the text for a task."""
        speed = task.finished_speed or task.speed
        return Text('' if speed is None else f'{speed:.2f} /s')


PROGRESS = (
    TextColumn('{task.description}'),
    BarColumn(),
    MofNCompleteColumn(),
    RateColumn(),
    TextColumn('left'),
    TimeRemainingColumn(),
)


def evaluate_on_server(
    client: ChiralClient,
    policy: str,
    *,
    episodes: int,
    max_steps: int,
    seed: int,
    record: str = '',
    video: str = '',
    table: str = '',
) -> None:
    """
    Run the episodes one after the other.

    :param policy: MODULE:NAME.
    :param record: folder for an MCAP file per episode; `video` for an MP4 file; empty for none.
    :param table: Parquet file for the table of the episodes, empty for none.
    :raises ImportError: when pyarrow, mcap or av is needed and not installed.
    :raises UrlabError: when the server or the policy fails; the results before it are printed.
    """
    loaded = load_policy(policy)
    make_logs = log_factory(record, video)
    if table:
        import pyarrow  # noqa: F401
    results: list[EpisodeResult] = []
    try:
        with client, Progress(console=Console(stderr=True)) as progress:
            evaluation = Evaluation(client, loaded, max_steps)
            whole = progress.add_task('episodes', total=episodes)
            steps = progress.add_task('steps', total=max_steps)
            for result in evaluation.episodes(
                episodes,
                seed,
                lambda index: make_logs(index, evaluation.rate),
                lambda done: progress.update(steps, completed=done),
            ):
                results.append(result)
                progress.advance(whole)
    finally:
        report(results, table)


def evaluate_in_workers(
    settings: RunSettings,
    folder: Path,
    *,
    episodes: int,
    workers: int = 0,
    ray: str = '',
    record: str = '',
    table: str = '',
    timeout: float = 30.0,
) -> None:
    """
    Run the episodes that are missing in a folder of results, and write the table of all.

    :param workers: how many episodes run at the same time; with `ray`, 0 is one per processor.
    :param ray: Ray cluster in place of processes of this machine.
    :param timeout: of a reply in a worker (s).
    :raises ImportError: when mujoco or pyarrow, or Ray with `ray`, is not installed.
    :raises UrlabError: when an episode fails; those before it are kept.
    """
    import pyarrow  # noqa: F401

    from urlab_ros_bridge.evaluation.episode_cluster import EpisodeCluster
    from urlab_ros_bridge.evaluation.episode_pool import EpisodePool
    from urlab_ros_bridge.evaluation.episode_worker import Assignment
    from urlab_ros_bridge.evaluation.episode_worker import remove_unfinished

    with EpisodeFiles(folder, settings) as files:
        if record:
            Path(record).mkdir(parents=True, exist_ok=True)
            remove_unfinished(Path(record))
        missing = [index for index in range(episodes) if index not in files.rows]
        assignment = Assignment(asdict(settings), record, timeout)
        pool: EpisodePool | EpisodeCluster
        try:
            if missing:
                if ray:
                    excluded = (str(folder), record, table)
                    pool = EpisodeCluster(assignment, ray, workers, excluded)
                else:
                    pool = EpisodePool(assignment, min(workers, len(missing)))
                with pool, Progress(*PROGRESS, console=Console(stderr=True)) as progress:
                    done = episodes - len(missing)
                    task = progress.add_task('episodes', total=episodes, completed=done)
                    for row in pool.run(missing):
                        files.add(row)
                        progress.advance(task)
        finally:
            if record:
                remove_unfinished(Path(record))  # of workers that were killed
            rows = [files.rows[index] for index in range(episodes) if index in files.rows]
            report([row.result for row in rows], table, MAX_TABLE_ROWS)
            if rows:
                print(files.write_table(rows))


def report(results: Sequence[EpisodeResult], table: str, most: int = sys.maxsize) -> None:
    """
    Print the results and write them to a Parquet file.

    :param table: the file, empty for none.
    :param most: rows that are printed.
    """
    if not results:
        return
    columns = None if sys.stdout.isatty() else PIPED_COLUMNS
    Console(width=columns).print(results_table(results, most))
    if table:
        write_parquet(Path(table), [asdict(result) for result in results])


def log_factory(record: str, video: str) -> Callable[[int, float], list[Log]]:
    """
    Return a function: number of an episode, control rate in Hz -> its logs.

    :param record: folder for MCAP files; `video` for MP4 files; empty for none.
    :raises ImportError: when mcap or av is needed and not installed.
    """
    makers: list[Callable[[int, float], Log]] = []
    if record:
        require_mcap()
        makers.append(lambda i, rate: EpisodeLog(Path(record) / f'episode_{i:04d}.mcap'))
    if video:
        require_av()
        makers.append(lambda i, rate: EpisodeVideo(Path(video) / f'episode_{i:04d}.mp4', rate))
    for folder in filter(None, (record, video)):
        Path(folder).mkdir(parents=True, exist_ok=True)
    return lambda index, rate: [make(index, rate) for make in makers]


__all__ = [
    'evaluate_in_workers',
    'evaluate_on_server',
    'log_factory',
    'report',
]
