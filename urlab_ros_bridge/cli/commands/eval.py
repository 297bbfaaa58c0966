# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab eval`: evaluate a policy over several episodes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
import sys

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
from urlab_ros_bridge.schema import KeyProblem

MAX_PROCESSES = 1024


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

    @property
    def in_workers(self) -> bool:
        """Return whether the episodes run in workers, not on the server of `url`."""
        return bool(self.workers or self.ray)

    def check(self) -> None:
        """Refuse arguments that do not go with workers."""
        if not self.in_workers:
            return
        given = '--ray' if self.ray else '--workers'
        if not self.ray and self.workers > MAX_PROCESSES:
            problem = f'{self.workers} workers, at most {MAX_PROCESSES} are allowed without --ray'
            raise KeyProblem('workers', problem)
        if not self.results:
            raise KeyProblem('results', f'is required with {given}: give a folder')
        for name in ('url', 'video', 'token'):
            if getattr(self, name) != arguments_of(EvalArguments)[name].initial():
                raise KeyProblem(name, f'cannot be combined with {given}')


def run(given: ParsedArguments[EvalArguments]) -> int:
    """
    Evaluate the policy.

    :raises PackageMissing: when a package that the arguments need is not installed.
    """
    sys.path.insert(0, str(Path.cwd()))  # policies are found in the working folder
    values = given.values
    check_table(values.table)
    try:
        (evaluate_in_workers if values.in_workers else evaluate_on_server)(values)
    except ImportError as error:
        raise PackageMissing(','.join(needed_extras(values)), [error.name or str(error)]) from None
    return 0


def evaluate_on_server(values: EvalArguments) -> None:
    """Run the episodes on the server of --url."""
    from urlab_ros_bridge.evaluation.evaluate import evaluate_on_server
    from urlab_ros_bridge.gateways.chiral.client import ChiralClient

    client = ChiralClient(
        values.url, token=values.token, timeout=values.timeout, reset_timeout=4 * values.timeout
    )
    evaluate_on_server(
        client,
        values.policy,
        episodes=values.episodes,
        max_steps=values.max_steps,
        seed=values.seed,
        record=values.record,
        video=values.video,
        table=values.table,
    )


def evaluate_in_workers(values: EvalArguments) -> None:
    """Run the episodes in processes of this machine, or on a cluster."""
    from urlab_ros_bridge.evaluation.episode_files import RunSettings
    from urlab_ros_bridge.evaluation.episodes import load_policy
    from urlab_ros_bridge.evaluation.evaluate import evaluate_in_workers

    load_policy(values.policy)  # reports a wrong name here, and not from every worker
    evaluate_in_workers(
        RunSettings.of(values.world, values.profile, values.policy, values.max_steps, values.seed),
        Path(values.results),
        episodes=values.episodes,
        workers=values.workers,
        ray=values.ray,
        record=values.record,
        table=values.table,
        timeout=values.timeout,
    )


def check_table(path: str) -> None:
    """
    Check before the first episode that --table can be written.

    :raises BadArgument: when it cannot.
    """
    if not path:
        return
    try:
        with Path(path).open('ab'):
            pass
    except OSError as error:
        raise BadArgument('--table', f'{path!r} cannot be written: {error}') from None


def needed_extras(values: EvalArguments) -> list[str]:
    """Return the extras of the package that an evaluation needs."""
    return [
        *(['sim'] if values.in_workers else []),
        'chiral',
        *(['eval'] if values.in_workers or values.record or values.table else []),
        *(['video'] if values.video else []),
        *(['ray'] if values.ray else []),
    ]


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
