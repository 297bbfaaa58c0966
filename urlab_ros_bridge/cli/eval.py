# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab eval`: run a policy for some episodes, with a progress bar and a table at the end."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
import sys

from urlab_ros_bridge.cli.commands import EVAL
from urlab_ros_bridge.cli.errors import BadArgument
from urlab_ros_bridge.cli.errors import PackageMissing
from urlab_ros_bridge.cli.parser import make_parser
from urlab_ros_bridge.cli.parser import plain_errors


def run(values: argparse.Namespace) -> None:
    """
    Run the episodes.

    :raises PackageMissing: when websockets, rich or mcap is not installed.
    :raises UrlabError: when the server or the policy fails.
    """
    try:
        from rich.console import Console
        from rich.progress import Progress

        from urlab_ros_bridge.gateways.chiral.client import ChiralClient
        from urlab_ros_bridge.gateways.chiral.episode_log import EpisodeLog
        from urlab_ros_bridge.gateways.chiral.episodes import Evaluation
        from urlab_ros_bridge.gateways.chiral.episodes import load_policy
        from urlab_ros_bridge.gateways.chiral.episodes import results_table
    except ImportError as error:
        raise PackageMissing('urlab eval', 'chiral,eval', error) from None

    policy = load_policy(values.policy)
    folder = Path(values.record) if values.record else None
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    results = []
    client = ChiralClient(
        values.url, token=values.token, timeout=values.timeout, reset_timeout=4 * values.timeout
    )
    with client, Progress(console=Console(stderr=True)) as progress:
        evaluation = Evaluation(client, policy, values.max_steps)
        whole = progress.add_task('episodes', total=values.episodes)
        steps = progress.add_task('steps', total=values.max_steps)
        for index in range(values.episodes):
            progress.reset(steps, description=f'episode {index}')
            log = EpisodeLog(folder / f'episode_{index:04d}.mcap') if folder else None
            results.append(
                evaluation.run(
                    values.seed + index,
                    log,
                    lambda done: progress.update(steps, completed=done),
                )
            )
            progress.advance(whole)
    Console(width=None if sys.stdout.isatty() else 99).print(results_table(results))


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
