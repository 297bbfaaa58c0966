# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The invariants of a run, and the memory of its programs."""

from __future__ import annotations

from collections.abc import Callable
import contextlib
from dataclasses import dataclass
from dataclasses import field
import statistics
from typing import TYPE_CHECKING

from programs_under_fault import Load
from watchers import Log

from urlab_ros_bridge.wire.recording import decode

if TYPE_CHECKING:
    from run_soak import Soak

SLOPE_MB_AN_HOUR = 60.0  # what a program may grow by, once it has done everything
GROWTH_MB = 15.0  # and so much at least
JUDGED = 0.15  # hours of the second half of a life from which on its memory is judged
# Faults of connections that change no data; the others are no faults of TCP.
HONEST = ('delay', 'cut')
# By name and process: (s since the begin, what it held).
Loads = dict[tuple[str, int], list[tuple[float, Load]]]


@dataclass
class Result:
    """What became of one fault."""

    name: str
    recovered: float = 0.0
    problems: list[str] = field(default_factory=list)


def broken_invariants(soak: Soak, codes: dict[str, int]) -> list[str]:
    """Return what the log and the files say against the suite."""
    found = [f'{result.name}: {problem}' for result in soak.results for problem in result.problems]
    newest: dict[tuple, float] = {}
    harmed = _harmed(soak.log)
    for row in soak.log.rows():
        if 'wrong' in row:
            found.append(f'not one reply a request: {row["wrong"]}')
        if 'time' not in row:
            continue
        key = (row['who'], row['epoch'])
        if row['time'] < newest.get(key, row['time']) and not harmed(row):
            found.append(f'{row["who"]}: time went back from {newest[key]} to {row["time"]}')
        newest[key] = row['time']
    for path, frames in soak.saved.items():
        with contextlib.suppress(Exception):
            if len(decode([path.read_text()])) == frames:
                continue
        found.append(f'{path} was acknowledged with {frames} frames and is not there')
    if soak.bags:
        from bag_faults import unreadable

        found += unreadable(soak.bags)
    for name, code in codes.items():
        if code:
            found.append(f'{name} ended with {code}')
        if 'Traceback' in soak.programs.log(name):
            text = soak.programs.log(name)
            found.append(f'{name} logged: {text[text.index("Traceback") :][:1500]}')
    return found


def _harmed(log: Log) -> Callable[[dict], bool]:
    """Return whether a row came while what the client got was no longer what was sent."""
    spans: list[tuple[str, float, float]] = []
    for row in log.rows('faults'):
        if row.get('begins') and row['begins'] not in HONEST:
            spans.append((row['protocol'], row['at'], float('inf')))
        elif row.get('ends') and row['ends'] not in HONEST:
            protocol, begin, _ = spans.pop()
            spans.append((protocol, begin, row['at'] + 1.0))
    return lambda row: any(
        row['who'] == f'{protocol} proxied' and begin <= row['at'] <= end
        for protocol, begin, end in spans
    )


def growing(loads: Loads) -> list[str]:
    """Return the programs whose memory grows over the second half of a life, and how fast."""
    found = []
    for (name, _), rows in loads.items():
        settled = [(at / 3600, load.memory_mb) for at, load in rows[len(rows) // 2 :]]
        hours = settled[-1][0] - settled[0][0]
        if hours > JUDGED:
            slope = statistics.linear_regression(*zip(*settled, strict=True)).slope
            if slope > SLOPE_MB_AN_HOUR and slope * hours > GROWTH_MB:
                found.append(f'{name} grows by {slope:.0f} MB an hour')
    return found
