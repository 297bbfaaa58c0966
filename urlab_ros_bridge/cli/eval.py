# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab eval`: run a policy for some episodes, with a progress bar and a table at the end."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from collections.abc import Sequence
from pathlib import Path
import sys
from typing import TYPE_CHECKING

from urlab_ros_bridge.cli.commands import EVAL
from urlab_ros_bridge.cli.errors import BadArgument
from urlab_ros_bridge.cli.errors import PackageMissing
from urlab_ros_bridge.cli.parser import make_parser
from urlab_ros_bridge.cli.parser import plain_errors

if TYPE_CHECKING:
    from urlab_ros_bridge.gateways.chiral.episodes import Log
    from urlab_ros_bridge.gateways.chiral.episodes import Result


def run(values: argparse.Namespace) -> None:
    """
    Run the episodes.

    :raises PackageMissing: when websockets or rich is not installed, or mcap for --record.
    :raises UrlabError: when the server or the policy fails.
    """
    try:
        from rich.console import Console
        from rich.progress import Progress

        from urlab_ros_bridge.gateways.chiral.client import ChiralClient
        from urlab_ros_bridge.gateways.chiral.episodes import Evaluation
        from urlab_ros_bridge.gateways.chiral.episodes import load_policy
        from urlab_ros_bridge.gateways.chiral.episodes import results_table
        from urlab_ros_bridge.gateways.chiral.episodes import write_table
    except ImportError as error:
        raise PackageMissing('urlab eval', 'chiral,eval', error) from None

    policy = load_policy(values.policy)
    logs = make_logs(values)
    results: list[Result] = []
    client = ChiralClient(
        values.url, token=values.token, timeout=values.timeout, reset_timeout=4 * values.timeout
    )
    try:
        with client, Progress(console=Console(stderr=True)) as progress:
            evaluation = Evaluation(client, policy, values.max_steps)
            whole = progress.add_task('episodes', total=values.episodes)
            steps = progress.add_task('steps', total=values.max_steps)
            for index in range(values.episodes):
                progress.reset(steps, description=f'episode {index}')
                result = evaluation.run(
                    values.seed + index,
                    logs(index, evaluation.rate),
                    lambda done: progress.update(steps, completed=done),
                )
                results.append(result)
                progress.advance(whole)
    finally:  # what was done before something failed is not lost
        if results:
            Console(width=None if sys.stdout.isatty() else 99).print(results_table(results))
            if values.table:
                write_table(results, Path(values.table))


def make_logs(values: argparse.Namespace) -> Callable[[int, float], list[Log]]:
    """
    Return a function: number of an episode, control rate in Hz -> the logs that were asked for.

    :raises PackageMissing: when mcap is needed and not installed.
    """
    from urlab_ros_bridge.files import require_mcap
    from urlab_ros_bridge.gateways.chiral.episode_log import EpisodeLog
    from urlab_ros_bridge.gateways.chiral.episode_video import EpisodeVideo

    makers: list[Callable[[int, float], Log]] = []
    if values.record:
        try:
            require_mcap()
        except ImportError as error:
            raise PackageMissing('--record', 'eval', error) from None
        makers.append(lambda i, rate: EpisodeLog(Path(values.record) / f'episode_{i:04d}.mcap'))
    if values.video:
        videos = Path(values.video)
        makers.append(lambda i, rate: EpisodeVideo(videos / f'episode_{i:04d}.avi', rate))
    for folder in filter(None, (values.record, values.video)):
        Path(folder).mkdir(parents=True, exist_ok=True)
    return lambda index, rate: [make(index, rate) for make in makers]


@plain_errors
def main(argv: Sequence[str]) -> int:
    """Run `urlab eval` with the words after its name; return the exit code."""
    sys.path.insert(0, str(Path.cwd()))  # policies are found where the user stands
    values = make_parser(EVAL).parse_args(argv)
    if not values.policy:
        raise BadArgument('--policy', values.policy, 'a policy of the form module:callable')
    if not values.episodes or not values.max_steps:
        raise BadArgument('--episodes and --max-steps', 0, 'at least 1')
    run(values)
    return 0


if __name__ == '__main__':
    sys.exit(main())
