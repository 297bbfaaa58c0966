# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab eval`: run a policy for some episodes, with a progress bar and a table at the end."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import asdict
from dataclasses import dataclass
from pathlib import Path
import sys
import time
from typing import TYPE_CHECKING

from urlab_ros_bridge.cli.arguments.argument import Arguments
from urlab_ros_bridge.cli.arguments.argument import arguments_of
from urlab_ros_bridge.cli.arguments.checks import chiral_profile
from urlab_ros_bridge.cli.arguments.command import Command
from urlab_ros_bridge.cli.arguments.command import ParsedArguments
from urlab_ros_bridge.cli.arguments.groups import CHIRAL_PORT
from urlab_ros_bridge.cli.arguments.groups import FOLDER
from urlab_ros_bridge.cli.arguments.groups import NAME_OR_FILE
from urlab_ros_bridge.cli.arguments.groups import PATH
from urlab_ros_bridge.cli.errors import BadArgument
from urlab_ros_bridge.cli.errors import PackageMissing
from urlab_ros_bridge.schema import key

if TYPE_CHECKING:
    from urlab_ros_bridge.cli.processes.episode_cluster import EpisodeCluster
    from urlab_ros_bridge.cli.processes.episode_pool import EpisodePool
    from urlab_ros_bridge.cli.processes.episode_worker import Assignment
    from urlab_ros_bridge.gateways.chiral.evaluation.episodes import EpisodeResult
    from urlab_ros_bridge.gateways.chiral.evaluation.episodes import Log

# Episodes that are printed one by one; the files have all.
MOST_LINES = 100
MOST_PROCESSES = 1024


@dataclass(frozen=True, kw_only=True)
class EvalArguments(Arguments):
    """The arguments of `urlab eval`."""

    policy: str = key(
        text='Policy to run, a callable that receives an observation and returns an action; a '
        'class is instantiated once.',
        metavar='MODULE:NAME',
        longest=4096,
    )
    url: str = key(
        f'ws://127.0.0.1:{CHIRAL_PORT}',
        'Chiral server, if neither --workers nor --ray is given.',
        longest=4096,
    )
    workers: int = key(
        0,
        'Run episodes in parallel in this many processes, each with its own simulation in '
        'lockstep; 0: one after the other on the server of --url. With --ray: number of '
        'parallel episodes; 0: one per processor of the cluster.',
        metavar='N',
        low=0,
        high=100_000,
    )
    ray: str = key(
        '',
        'Run episodes on the machines of a Ray cluster: "local" starts one on this machine alone, '
        '"auto" finds the one that this machine belongs to.',
        metavar='local|auto|HOST:PORT',
        longest=4096,
    )
    world: str = key(
        'rover',
        'World of the workers: a bundled world, an MJCF file or a sidecar.',
        metavar='NAME|FILE',
        longest=4096,
    )
    profile: str = key(
        '',
        'Chiral profile of the workers: a bundled profile or a YAML file.',
        check=chiral_profile,
        **NAME_OR_FILE,
    )
    results: str = key(
        '',
        'Folder for the results of the workers: episodes.jsonl, and results.parquet at the end. '
        'If it has results of a stopped evaluation, only the missing episodes are run.',
        **FOLDER,
    )
    episodes: int = key(10, 'Number of episodes.', metavar='N', low=1)
    max_steps: int = key(300, 'Maximum number of actions in an episode.', metavar='N', low=1)
    seed: int = key(
        0, 'Seed of the first episode; increases by one per episode.', metavar='N', low=0
    )
    record: str = key(
        '',
        'Folder for one MCAP file per episode: images, streams, actions, rewards. Created if it '
        'does not exist. With --ray, all machines must share it.',
        **FOLDER,
    )
    video: str = key(
        '',
        'Folder for one video per episode: all cameras side by side (MP4, H.264). Created if it '
        'does not exist.',
        **FOLDER,
    )
    table: str = key('', 'Parquet file for the table of the episodes, written at the end.', **PATH)
    token: str = key('', 'Token of the server.', longest=4096)
    timeout: float = key(
        30.0, 'Timeout for a reply of the server.', metavar='SECONDS', low=0.0, unit='s'
    )


def evaluate(values: EvalArguments) -> None:
    """
    Run the episodes.

    :raises PackageMissing: when websockets or rich is not installed, mcap for --record, or av
        for --video.
    :raises UrlabError: when the server or the policy fails.
    """
    try:
        from rich.console import Console
        from rich.progress import Progress

        from urlab_ros_bridge.gateways.chiral.client import ChiralClient
        from urlab_ros_bridge.gateways.chiral.evaluation.episodes import Evaluation
        from urlab_ros_bridge.gateways.chiral.evaluation.episodes import load_policy
        from urlab_ros_bridge.gateways.chiral.evaluation.episodes import results_table
    except ImportError as error:
        raise PackageMissing('urlab eval', 'chiral', error) from None

    policy = load_policy(values.policy)
    logs = make_logs(values)
    check_table(values.table)
    results: list[EpisodeResult] = []
    client = ChiralClient(
        values.url, token=values.token, timeout=values.timeout, reset_timeout=4 * values.timeout
    )
    try:
        with client, Progress(console=Console(stderr=True)) as progress:
            evaluation = Evaluation(client, policy, values.max_steps)
            whole = progress.add_task('episodes', total=values.episodes)
            steps = progress.add_task('steps', total=values.max_steps)
            for result in evaluation.episodes(
                values.episodes,
                values.seed,
                lambda index: logs(index, evaluation.rate),
                lambda done: progress.update(steps, completed=done),
            ):
                results.append(result)
                progress.advance(whole)
    finally:  # what was done before something failed is not lost
        if results:
            Console(width=None if sys.stdout.isatty() else 99).print(results_table(results))
            write_results(values.table, results)


def evaluate_side_by_side(values: EvalArguments) -> None:
    """
    Run the episodes that are missing in workers, and write all to a table.

    :raises BadArgument: for arguments that workers have no use for.
    :raises PackageMissing: when mujoco, websockets, rich or pyarrow is not installed, or Ray for
        --ray.
    :raises UrlabError: when an episode fails; those before it are kept.
    """
    check_for_workers(values)
    check_table(values.table)
    try:
        import pyarrow  # noqa: F401
        from rich.console import Console

        from urlab_ros_bridge.cli.processes.episode_worker import Assignment
        from urlab_ros_bridge.cli.processes.episode_worker import remove_unfinished
        from urlab_ros_bridge.gateways.chiral.evaluation.episode_files import EpisodeFiles
        from urlab_ros_bridge.gateways.chiral.evaluation.episode_files import Purpose
        from urlab_ros_bridge.gateways.chiral.evaluation.episodes import load_policy
        from urlab_ros_bridge.gateways.chiral.evaluation.episodes import results_table
    except ImportError as error:
        raise PackageMissing('urlab eval --workers', 'sim,chiral,eval', error) from None

    load_policy(values.policy)  # a mistake in its name is told here, and not by every worker
    purpose = Purpose.of(
        values.world, values.profile, values.policy, values.max_steps, values.seed
    )
    with EpisodeFiles(Path(values.results), purpose) as files:
        if values.record:
            Path(values.record).mkdir(parents=True, exist_ok=True)
            remove_unfinished(Path(values.record))
        missing = [index for index in range(values.episodes) if index not in files.rows]
        assignment = Assignment(asdict(purpose), values.record, values.timeout)
        try:
            if missing:
                with (
                    make_pool(values, assignment, len(missing)) as pool,
                    episode_progress(values.episodes, values.episodes - len(missing)) as advance,
                ):
                    for row in pool.run(missing):
                        files.add(row)
                        advance()
        finally:  # what was done before something failed is not lost
            rows = [files.rows[index] for index in range(values.episodes) if index in files.rows]
            if rows:
                results = [row.result for row in rows]
                console = Console(width=None if sys.stdout.isatty() else 99)
                console.print(results_table(results, MOST_LINES))
                print(files.write_table(rows))
                write_results(values.table, results)


def make_pool(
    values: EvalArguments, assignment: Assignment, count: int
) -> EpisodePool | EpisodeCluster:
    """
    Return what runs the episodes.

    :param count: how many there are to run.
    :raises PackageMissing: when Ray is needed and not installed.
    """
    if not values.ray:
        from urlab_ros_bridge.cli.processes.episode_pool import EpisodePool

        return EpisodePool(assignment, min(values.workers, count))
    from urlab_ros_bridge.cli.processes.episode_cluster import EpisodeCluster

    excluded = (values.results, values.record, values.table)
    try:
        return EpisodeCluster(assignment, values.ray, values.workers, excluded)
    except ImportError as error:
        raise PackageMissing('urlab eval --ray', 'sim,chiral,eval,ray', error) from None


def check_for_workers(values: EvalArguments) -> None:
    """
    Refuse what workers have no use for.

    :raises BadArgument: with what to do.
    """
    given = '--ray' if values.ray else '--workers'
    if not values.ray and values.workers > MOST_PROCESSES:
        raise BadArgument(
            '--workers',
            f'{values.workers} workers, at most {MOST_PROCESSES} are allowed without --ray',
        )
    if not values.results:
        raise BadArgument('--results', f'is required with {given}: give a folder')
    for name in ('url', 'video', 'token'):
        if getattr(values, name) != arguments_of(EvalArguments)[name].initial():
            raise BadArgument(f'--{name}', f'cannot be combined with {given}')


@contextmanager
def episode_progress(total: int, done: int) -> Iterator[Callable[[], None]]:
    """Show a bar with rate and time left; yield what is called after each episode."""
    from rich.console import Console
    from rich.progress import BarColumn
    from rich.progress import MofNCompleteColumn
    from rich.progress import Progress
    from rich.progress import TextColumn
    from rich.progress import TimeRemainingColumn

    columns = (
        TextColumn('episodes'),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn('{task.fields[rate]}'),
        TextColumn('left'),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task('episodes', total=total, completed=done, rate='')
        begun, count = time.monotonic(), 0

        def advance() -> None:
            nonlocal count
            count += 1
            rate = count / max(time.monotonic() - begun, 1e-9)
            progress.update(task, advance=1, rate=f'{rate:.2f} /s')

        yield advance


def check_table(path: str) -> None:
    """
    Check before the first episode that --table can be written.

    :raises BadArgument: when it cannot.
    :raises PackageMissing: without pyarrow.
    """
    if not path:
        return
    try:
        import pyarrow  # noqa: F401

        with Path(path).open('ab'):
            pass
    except ImportError as error:
        raise PackageMissing('urlab eval --table', 'eval', error) from None
    except OSError as error:
        raise BadArgument('--table', f'{path!r} cannot be written: {error}') from None


def write_results(path: str, results: Sequence[EpisodeResult]) -> None:
    """Write the episodes to the file of --table, if there is one."""
    from urlab_ros_bridge.gateways.chiral.evaluation.episode_files import write_parquet

    if path:
        write_parquet(Path(path), [asdict(result) for result in results])


def make_logs(values: EvalArguments) -> Callable[[int, float], list[Log]]:
    """
    Return a function: number of an episode, control rate in Hz -> the logs that were asked for.

    :raises PackageMissing: when mcap or av is needed and not installed.
    """
    from urlab_ros_bridge.files import require_mcap
    from urlab_ros_bridge.gateways.chiral.evaluation.episode_log import EpisodeLog
    from urlab_ros_bridge.gateways.chiral.evaluation.episode_video import EpisodeVideo
    from urlab_ros_bridge.gateways.chiral.evaluation.episode_video import require_av

    makers: list[Callable[[int, float], Log]] = []
    if values.record:
        try:
            require_mcap()
        except ImportError as error:
            raise PackageMissing('--record', 'eval', error) from None
        makers.append(lambda i, rate: EpisodeLog(Path(values.record) / f'episode_{i:04d}.mcap'))
    if values.video:
        videos = Path(values.video)
        try:
            require_av()
        except ImportError as error:
            raise PackageMissing('--video', 'video', error) from None
        makers.append(lambda i, rate: EpisodeVideo(videos / f'episode_{i:04d}.mp4', rate))
    for folder in filter(None, (values.record, values.video)):
        Path(folder).mkdir(parents=True, exist_ok=True)
    return lambda index, rate: [make(index, rate) for make in makers]


def run(given: ParsedArguments[EvalArguments]) -> int:
    """Evaluate the policy."""
    sys.path.insert(0, str(Path.cwd()))  # policies are found where the user stands
    values = given.values
    (evaluate_side_by_side if values.workers or values.ray else evaluate)(values)
    return 0


COMMAND = Command(
    name='eval',
    summary='Evaluate a policy over several episodes.',
    text='Run a policy against a Chiral server for a number of episodes and print a table of the\n'
    'results. The policy is your own callable: observation in, action out. With --workers,\n'
    'each worker has its own simulation, and results do not depend on the number of workers;\n'
    'with --ray, the workers run on the machines of a Ray cluster.',
    section=EvalArguments,
    run=run,
    examples=(
        ('urlab eval --policy my_policy:act', 'ten episodes'),
        ('urlab eval --policy my_policy:Policy --episodes 50 --record runs', 'with recordings'),
        (
            'urlab eval --policy my_policy:act --workers 8 --world bimanual --results out',
            'in parallel',
        ),
        (
            'urlab eval --policy my_policy:act --ray auto --episodes 100000 --results out',
            'on the Ray cluster that this machine belongs to',
        ),
    ),
)
