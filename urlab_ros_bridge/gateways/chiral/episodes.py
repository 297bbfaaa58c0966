# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Episodes of a policy on any Chiral server, and how they went."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import csv
from dataclasses import asdict
from dataclasses import dataclass
from dataclasses import fields
import inspect
from pathlib import Path
import statistics
import time
from typing import Any
from typing import Protocol
from typing import TypeAlias

import numpy as np
from rich.table import Table

from urlab_ros_bridge.gateways.chiral.callables import load_callable
from urlab_ros_bridge.gateways.chiral.client import ChiralClient
from urlab_ros_bridge.gateways.chiral.codec import Observation
from urlab_ros_bridge.gateways.chiral.errors import ChiralError

DEFAULT_RATE = 30.0
Policy: TypeAlias = Callable[[Observation], Any]


class PolicyFailed(ChiralError):
    """The policy raised, or returned something that is no action."""


class Log(Protocol):
    """Receives what happens in an episode."""

    def add(self, seen: Observation, action: np.ndarray | None) -> None:
        """Take an observation and the action that was chosen for it."""

    def close(self, summary: dict[str, str]) -> None:
        """End the log."""


@dataclass(frozen=True, slots=True)
class Result:
    """
    One episode.

    :ivar seconds: of simulated time; `wall` of real time.
    :ivar ended: why: success, terminated, truncated, or max_steps.
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
    Import a policy; a class is made once, without arguments.

    :raises ProfileError: when there is no such thing.
    :raises PolicyFailed: when it cannot be made.
    """
    found = load_callable(text, 'policy')
    if not inspect.isclass(found):
        return found
    try:
        return found()
    except Exception as error:
        raise PolicyFailed(f'{text} cannot be made: {type(error).__name__}: {error}') from error


class Evaluation:
    """
    Runs episodes of one policy, in lockstep or at the control rate of the server.

    :ivar rate: actions per simulated second.
    """

    def __init__(self, client: ChiralClient, policy: Policy, max_steps: int) -> None:
        said = client.metadata()
        self._client = client
        self._policy = policy
        self._max_steps = max_steps
        self.rate = float(said.get('control_hz') or DEFAULT_RATE)
        self._period = 1.0 / self.rate
        self._waits = said.get('pace') != 'lockstep'

    def run(
        self, seed: int, logs: Sequence[Log] = (), progress: Callable[[int], None] | None = None
    ) -> Result:
        """
        Run one episode; the logs are closed at its end, whatever ends it.

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
    ) -> Result:
        started = time.monotonic()
        seen = first = self._client.reset(seed=seed)
        self._begin(seen)
        steps, reward, ended = 0, 0.0, ''
        due = time.monotonic()
        while not ended:
            action = self._ask(seen)
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
        result = Result(
            seed,
            steps,
            reward,
            bool(seen.extra.get('success')),
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

    def _ask(self, seen: Observation) -> np.ndarray:
        action = self._guard(lambda: self._policy(seen))
        try:
            values = np.asarray(action, np.float64)
        except (TypeError, ValueError) as error:
            raise PolicyFailed(f'the policy returned {action!r:.60}, no action') from error
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
        for word in ('success', 'terminated', 'truncated'):
            if seen.extra.get(word):
                return word
        return 'max_steps' if steps >= self._max_steps else ''


def results_table(results: Sequence[Result]) -> Table:
    """Return the episodes as a table, with a last line for all of them."""
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
    for index, r in enumerate(results):
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
    return table


def write_table(results: Sequence[Result], path: Path) -> None:
    """Write the episodes as CSV, one a line."""
    with path.open('w', newline='') as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Result)])
        writer.writeheader()
        writer.writerows(map(asdict, results))
