# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Run checks against a server, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import dataclass
import time
import traceback

from urlab_ros_bridge.conformance.check import Check
from urlab_ros_bridge.conformance.peer import NoAnswer
from urlab_ros_bridge.conformance.peer import Peer
from urlab_ros_bridge.conformance.verdict import Failed
from urlab_ros_bridge.conformance.verdict import Skipped

PASS, FAIL, SKIP, DEVIATION = 'pass', 'fail', 'skip', 'deviation'
GIVE_UP = 3  # requests in a row without an answer


@dataclass(frozen=True, slots=True)
class Result:
    """
    How one check went, in one mode, over one transport.

    :ivar outcome: pass, fail, skip, or deviation (a stock server does what it is known to do).
    :ivar reason: why it was skipped, or the known deviation.
    """

    check: Check
    mode: str
    transport: str
    outcome: str
    expected: str = ''
    got: str = ''
    reason: str = ''
    seconds: float = 0.0

    @property
    def name(self) -> str:
        """Return the check's name with the mode: ``step.reply [live]``."""
        return f'{self.check.name} [{self.mode}]' if self.mode else self.check.name


@dataclass(frozen=True, slots=True)
class Plan:
    """
    What to run.

    :ivar modes: step modes; a check that needs none of them runs whatever they are.
    :ivar transports: 'zmq', 'shm' or both.
    :ivar quick: leave out checks that wait for wall time.
    """

    checks: tuple[Check, ...]
    modes: tuple[str, ...] = ('live', 'direct', 'puppet')
    transports: tuple[str, ...] = ('zmq', 'shm')
    quick: bool = False

    def cases(self) -> list[tuple[Check, str, str]]:
        """Return (check, mode, transport) in order; checks of one transport only come once."""
        cases = [
            (check, mode, transport)
            for transport in self.transports
            for check in self.checks
            for mode in check.modes
            if transport in check.transports
            and (not mode or mode in self.modes)
            and not (self.quick and check.slow)
        ]
        return sorted(cases, key=lambda case: case[0].last)


def run(
    peer: Peer, plan: Plan, started: Callable[[Check, int, int], None] = lambda *_: None
) -> Iterator[Result]:
    """
    Yield the result of every case; the server is left as it was found, as far as possible.

    :param started: called before each check with its number and how many there are.
    """
    cases, silent, shm = plan.cases(), 0, ''
    for number, (check, mode, transport) in enumerate(cases, 1):
        started(check, number, len(cases))
        begin = time.monotonic()
        if peer.ended and check.modes:
            result = Result(check, mode, transport, SKIP, reason='the server has been ended')
        elif silent >= GIVE_UP:
            result = Result(check, mode, transport, FAIL, 'a server that answers', 'none')
        elif transport == 'shm' and shm:
            continue  # one line reports that there is no shared memory
        else:
            result, silence = _tried(peer, check, mode, transport)
            silent = silent + 1 if silence else 0
            if (
                transport == 'shm'
                and result.outcome == SKIP
                and not peer.hello_reply.get('shm_session_dir')
            ):
                shm = result.reason
        yield _timed(result, time.monotonic() - begin)
    if not peer.ended:
        peer.leave()


def _timed(result: Result, seconds: float) -> Result:
    values = {name: getattr(result, name) for name in Result.__slots__}
    return Result(**{**values, 'seconds': seconds})


def _tried(peer: Peer, check: Check, mode: str, transport: str) -> tuple[Result, bool]:
    """Return the result of one case, and whether the server did not answer."""
    outcome = (PASS, '', '', '')
    silence = False
    try:
        _attempt(peer, check, mode, transport)
    except Skipped as reason:
        outcome = (SKIP, '', '', str(reason))
    except Failed as failure:
        silence = isinstance(failure, NoAnswer)
        outcome = (FAIL, failure.expected, failure.got, '')
    except Exception as error:  # a reply of another shape than the check can read
        where = traceback.extract_tb(error.__traceback__)[-1]
        got = f'{type(error).__name__}: {error} ({where.name}, line {where.lineno})'
        outcome = (FAIL, 'replies of the documented shape', got, '')
    finally:
        peer.use_zmq()
    if outcome[0] == FAIL and check.stock and peer.stock:
        outcome = (DEVIATION, outcome[1], outcome[2], check.stock)
    return Result(check, mode, transport, *outcome), silence


def _attempt(peer: Peer, check: Check, mode: str, transport: str) -> None:
    if check.world and not peer.manager:
        raise Skipped('no world is running')
    if peer.manager:
        peer.prepare(mode)
    else:
        peer.hello()
    if transport == 'shm':
        peer.use_shm()
    check.run(peer)


def counted(results: Iterable[Result]) -> dict[str, int]:
    """Return how many results there are of each outcome."""
    outcomes = [result.outcome for result in results]
    return {name: outcomes.count(name) for name in (PASS, FAIL, SKIP, DEVIATION)}
