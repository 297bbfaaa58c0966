# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Episodes of a policy on any Chiral server, and their results."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import asdict
from dataclasses import dataclass
import inspect
import statistics
import sys
import time
from typing import Any
from typing import Protocol
from typing import TypeAlias

import numpy as np
from rich.table import Table

from urlab_ros_bridge.gateways.chiral.callables import load_callable
from urlab_ros_bridge.gateways.chiral.client.client import ChiralClient
from urlab_ros_bridge.gateways.chiral.errors import CallableUnusable
from urlab_ros_bridge.gateways.chiral.errors import ChiralError
from urlab_ros_bridge.gateways.chiral.protocol.codec import Observation
from urlab_ros_bridge.wire.errors import UrlabError

DEFAULT_RATE = 30.0
Policy: TypeAlias = Callable[[Observation], Any]


class PolicyFailed(ChiralError):
    """The policy raised, or returned something that is not an action."""


class EpisodeFailed(ChiralError):
    """
    An episode failed before its end; those before it count.

    :ivar index: number of the episode, from 0.
    """

    def __init__(self, index: int, seed: int, cause: Exception) -> None:
        super().__init__(f'episode {index} (seed {seed}) failed: {cause}')
        self.index = index


class Log(Protocol):
    """Receives the observations and actions of an episode."""

    def add(self, seen: Observation, action: np.ndarray | None) -> None:
        """Add an observation and the action chosen for it."""

    def close(self, summary: dict[str, str]) -> None:
        """End the log."""


@dataclass(frozen=True, slots=True)
class EpisodeResult:
    """
    One episode.

    :ivar seconds: of simulated time; `wall` of real time.
    :ivar ended: why: diverged (the simulation became unstable: a failure), success, terminated,
        truncated, or max_steps.
    """

    seed: int
    steps: int
    reward: float
    success: bool
    seconds: float
    wall: float
    ended: str


def load_policy(text: str) -> Policy:
    """
    Import a policy; a class is instantiated once, without arguments.

    :raises PolicyFailed: when it does not exist or cannot be instantiated.
    """
    try:
        found = load_callable(text)
    except CallableUnusable as error:
        raise PolicyFailed(f'the policy {error}') from error
    if not inspect.isclass(found):
        return found
    try:
        made: Any = found()
    except Exception as error:
        raise PolicyFailed(
            f'{text} cannot be instantiated: {type(error).__name__}: {error}'
        ) from error
    policy: Policy = made
    return policy


class Evaluation:
    """
    Runs episodes of one policy, in lockstep or at the control rate of the server.

    :ivar rate: actions per simulated second.
    """

    def __init__(self, client: ChiralClient, policy: Policy, max_steps: int) -> None:
        metadata = client.metadata()
        self._client = client
        self._policy = policy
        self._max_steps = max_steps
        self.rate = float(metadata.get('control_hz') or DEFAULT_RATE)
        self._period = 1.0 / self.rate
        self._waits = metadata.get('pace') != 'lockstep'

    def episodes(
        self,
        count: int,
        seed: int,
        make_logs: Callable[[int], Sequence[Log]] = lambda index: (),
        progress: Callable[[int], None] | None = None,
    ) -> Iterator[EpisodeResult]:
        """
        Run episodes one after the other; yield the result of each as soon as it has ended.

        :param seed: of the first one; the next ones count up.
        :param make_logs: number of an episode -> its logs.
        :param progress: called with the steps of the running episode.
        :raises EpisodeFailed: when one fails before its end.
        """
        for index in range(count):
            try:
                result = self.run(seed + index, make_logs(index), progress)
            except (UrlabError, OSError) as error:
                raise EpisodeFailed(index, seed + index, error) from error
            yield result

    def run(
        self, seed: int, logs: Sequence[Log] = (), progress: Callable[[int], None] | None = None
    ) -> EpisodeResult:
        """
        Run one episode; the logs are closed however it ends.

        :raises PolicyFailed: when the policy does not give an action.
        :raises ChiralError: when the server does not answer, or closes the connection.
        """
        try:
            return self._run(seed, logs, progress)
        except BaseException:
            for log in logs:
                log.close({'seed': str(seed), 'ended': 'failed'})
            raise

    def _run(
        self, seed: int, logs: Sequence[Log], progress: Callable[[int], None] | None
    ) -> EpisodeResult:
        started = time.monotonic()
        seen = first = self._client.reset(seed=seed)
        self._begin(seen)
        steps, reward, ended = 0, 0.0, ''
        due = time.monotonic()
        while not ended:
            action = self._ask_policy(seen)
            for log in logs:
                log.add(seen, action)
            self._client.act(action)
            count = len(action) if action.ndim == 2 else 1
            steps += count
            if self._waits:
                due = max(due + count * self._period, time.monotonic() - self._period)
                time.sleep(max(0.0, due - time.monotonic()))
            seen = self._client.observe()
            reward += float(seen.extra.get('reward') or 0.0)
            ended = self._ending(seen, steps)
            if progress is not None:
                progress(min(steps, self._max_steps))
        result = EpisodeResult(
            seed,
            steps,
            reward,
            bool(seen.extra.get('success')) and ended != 'diverged',
            float(seen.extra.get('sim_time', 0.0)) - float(first.extra.get('sim_time', 0.0)),
            time.monotonic() - started,
            ended,
        )
        for log in logs:
            log.add(seen, None)
        for log in logs:
            log.close({name: str(value) for name, value in asdict(result).items()})
        return result

    def _begin(self, seen: Observation) -> None:
        reset = getattr(self._policy, 'reset', None)
        if callable(reset):
            self._guard(lambda: reset(seen) if inspect.signature(reset).parameters else reset())

    def _ask_policy(self, seen: Observation) -> np.ndarray:
        action = self._guard(lambda: self._policy(seen))
        try:
            values = np.asarray(action, np.float64)
        except (TypeError, ValueError) as error:
            raise PolicyFailed(
                f'the policy returned {action!r:.60}, not an array of numbers'
            ) from error
        if values.ndim not in (1, 2) or not values.size:
            raise PolicyFailed(f'the policy returned an action of shape {values.shape}')
        return values

    @staticmethod
    def _guard(job: Callable[[], Any]) -> Any:
        try:
            return job()
        except ChiralError:
            raise
        except Exception as error:
            raise PolicyFailed(f'the policy raised {type(error).__name__}: {error}') from error

    def _ending(self, seen: Observation, steps: int) -> str:
        for reason in ('diverged', 'success', 'terminated', 'truncated'):
            if seen.extra.get(reason):
                return reason
        return 'max_steps' if steps >= self._max_steps else ''


def results_table(results: Sequence[EpisodeResult], most: int = sys.maxsize) -> Table:
    """
    Return the episodes as a table, with a last line for all of them.

    :param most: lines of episodes; in place of more there is one that says how many are missing.
    """
    table = Table(title=None, show_footer=True)
    n = max(len(results), 1)
    mean = statistics.fmean([r.reward for r in results] or [0.0])
    wins = sum(result.success for result in results)
    footers = {
        'episode': 'all',
        'seed': '',
        'steps': str(sum(r.steps for r in results)),
        'reward': f'mean {mean:.3f}',
        'success': f'{wins}/{n} = {wins / n:.0%}',
        'sim s': f'{sum(r.seconds for r in results):.1f}',
        'wall s': f'{sum(r.wall for r in results):.1f}',
        'ended by': '',
    }
    for name, footer in footers.items():
        table.add_column(name, footer=footer, justify='left' if name == 'ended by' else 'right')
    for index, r in enumerate(results[:most]):
        table.add_row(
            str(index),
            str(r.seed),
            str(r.steps),
            f'{r.reward:.3f}',
            'yes' if r.success else 'no',
            f'{r.seconds:.1f}',
            f'{r.wall:.1f}',
            r.ended,
        )
    if len(results) > most:
        table.add_row('...', *[''] * 6, f'{len(results) - most} more')
    return table


__all__ = [
    'EpisodeFailed',
    'EpisodeResult',
    'Evaluation',
    'Log',
    'Policy',
    'PolicyFailed',
    'load_policy',
    'results_table',
]  # fmt: skip
