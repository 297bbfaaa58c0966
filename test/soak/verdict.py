# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What a run is held against: the invariants, the times to recover, and what programs hold."""

from __future__ import annotations

from collections.abc import Callable
import contextlib
from dataclasses import dataclass
from dataclasses import field
import os
from pathlib import Path
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
SETTLED = 0.5  # part of a life after which its memory is judged
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


@dataclass
class Life:
    """
    What a program held in one life, once it had settled.

    :ivar slope: of the line through all samples, MB an hour.
    """

    name: str
    hours: float
    slope: float
    first: Load
    last: Load

    @property
    def judged(self) -> bool:
        """Return whether it was long enough to say something of its memory."""
        return self.hours > JUDGED

    @property
    def leaks(self) -> bool:
        """Return whether it grows by more than it may."""
        return (
            self.judged and self.slope > SLOPE_MB_AN_HOUR and self.slope * self.hours > GROWTH_MB
        )


def longest_lives(loads: Loads) -> list[Life]:
    """Return the second half of the longest life of each program."""
    found: dict[str, Life] = {}
    for (name, _), rows in loads.items():
        settled = rows[int(len(rows) * SETTLED) :] or rows
        hours = (settled[-1][0] - settled[0][0]) / 3600
        if name in found and found[name].hours >= hours:
            continue
        slope = 0.0
        if len(settled) > 2:
            times, sizes = zip(*((at / 3600, load.memory_mb) for at, load in settled), strict=True)
            slope = statistics.linear_regression(times, sizes).slope
        found[name] = Life(name, hours, slope, settled[0][1], settled[-1][1])
    return list(found.values())


def lives_table(lives: list[Life]) -> None:
    """Print what programs held, as docs/reliability.md has it."""
    if not lives:
        return
    hours = max(life.hours for life in lives)
    judged = 'judged' if any(life.judged for life in lives) else 'too short to be judged'
    print(f'\nSecond half of the longest lives, {hours:.2f} h ({judged}):\n')
    print('| | memory, MB | slope, MB an hour | open files | threads |\n|---|---|---|---|---|')
    for life in lives:
        first, last = life.first, life.last
        slope = f'{life.slope:+.0f}' if life.judged else 'not judged'
        print(
            f'| {life.name} | {first.memory_mb:.0f} -> {last.memory_mb:.0f} | {slope} | '
            f'{first.descriptors} -> {last.descriptors} | {first.threads} -> {last.threads} |'
        )
    print()


class MachineLoad:
    """What the machine did from here on, this run included."""

    def __init__(self) -> None:
        self._before = self._times()

    @staticmethod
    def _times() -> list[int]:
        return list(map(int, Path('/proc/stat').read_text().split('\n', 1)[0].split()[1:9]))

    def text(self) -> str:
        """Return load average, idle time and time that other machines took."""
        spent = [now - then for now, then in zip(self._times(), self._before, strict=True)]
        whole = max(sum(spent), 1)
        idle, steal = spent[3] + spent[4], spent[7]
        load = ', '.join(f'{value:.1f}' for value in os.getloadavg())
        return (
            f'{os.cpu_count()} processors, idle {idle / whole:.0%}, steal {steal / whole:.1%}, '
            f'load average at the end {load}'
        )


def table(results: list[Result]) -> None:
    """Print the time to recover from each fault: median and worst."""
    times: dict[str, list[float]] = {}
    for result in results:
        times.setdefault(result.name, []).append(result.recovered)
    print(f'| {"fault":42} | times | median s | worst s |\n|---|---|---|---|')
    for name, values in times.items():
        values.sort()
        middle = values[len(values) // 2]
        print(f'| {name:42} | {len(values):5} | {middle:8.2f} | {values[-1]:7.2f} |')
