# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab eval`: run a policy for some episodes, with a progress bar and a table at the end."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
import sys
from typing import TYPE_CHECKING

from urlab_ros_bridge.cli.arguments.argument import Arguments
from urlab_ros_bridge.cli.arguments.command import Command
from urlab_ros_bridge.cli.arguments.command import ParsedArguments
from urlab_ros_bridge.cli.arguments.groups import CHIRAL_PORT
from urlab_ros_bridge.cli.errors import BadArgument
from urlab_ros_bridge.cli.errors import PackageMissing
from urlab_ros_bridge.schema import key

if TYPE_CHECKING:
    from urlab_ros_bridge.gateways.chiral.evaluation.episodes import EpisodeResult
    from urlab_ros_bridge.gateways.chiral.evaluation.episodes import Log
    from urlab_ros_bridge.gateways.chiral.evaluation.episodes import ResultFile


@dataclass(frozen=True, kw_only=True)
class EvalArguments(Arguments):
    """The arguments of `urlab eval`."""

    policy: str = key(
        text='Policy to run, a callable that gets an observation and returns an action; of a '
        'class one instance is made.',
        metavar='MODULE:NAME',
        longest=4096,
    )
    url: str = key(f'ws://127.0.0.1:{CHIRAL_PORT}', 'Chiral server.', longest=4096)
    episodes: int = key(10, 'Number of episodes.', metavar='N', low=1)
    max_steps: int = key(300, 'Actions after which an episode ends.', metavar='N', low=1)
    seed: int = key(
        0, 'Seed of the first episode; each later one is one higher.', metavar='N', low=0
    )
    record: str = key(
        '',
        'Folder for one MCAP file an episode: images, streams, actions, rewards. Created if it '
        'does not exist.',
        metavar='DIR',
        longest=4096,
        path=True,
    )
    video: str = key(
        '',
        'Folder for one video an episode: all cameras side by side (MP4, H.264). Created if it '
        'does not exist.',
        metavar='DIR',
        longest=4096,
        path=True,
    )
    table: str = key(
        '', 'CSV file for the table of the episodes.', metavar='FILE', longest=4096, path=True
    )
    token: str = key('', 'Token of the server.', longest=4096)
    timeout: float = key(
        30.0, 'Seconds to wait for an answer.', metavar='SECONDS', low=0.0, unit='s'
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
        raise PackageMissing('urlab eval', 'chiral,eval', error) from None

    policy = load_policy(values.policy)
    logs = make_logs(values)
    results: list[EpisodeResult] = []
    client = ChiralClient(
        values.url, token=values.token, timeout=values.timeout, reset_timeout=4 * values.timeout
    )
    with open_table(values.table) as table:
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
                    if table is not None:
                        table.add(result)
                    progress.advance(whole)
        finally:  # what was done before something failed is not lost
            if results:
                Console(width=None if sys.stdout.isatty() else 99).print(results_table(results))


def open_table(path: str) -> AbstractContextManager[ResultFile | None]:
    """
    Return the file of --table, None when there is none.

    :raises BadArgument: when it cannot be written.
    """
    from urlab_ros_bridge.gateways.chiral.evaluation.episodes import ResultFile

    if not path:
        return nullcontext()
    try:
        return ResultFile(Path(path))
    except OSError as error:
        raise BadArgument('--table', f'{path!r} cannot be written: {error}') from None


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
    evaluate(given.values)
    return 0


COMMAND = Command(
    name='eval',
    summary='Evaluate a policy over several episodes.',
    text='Run a policy against a Chiral server for some episodes and print a table of the\n'
    'results. The policy is a callable of yours: observation in, action out.',
    section=EvalArguments,
    run=run,
    examples=(
        ('urlab eval --policy my_policy:act', 'ten episodes'),
        ('urlab eval --policy my_policy:Policy --episodes 50 --record runs', 'with recordings'),
    ),
)
