# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Results as a table, as one line, and as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
import textwrap
from typing import Any

from urlab_ros_bridge.conformance.check import Check
from urlab_ros_bridge.conformance.runner import counted
from urlab_ros_bridge.conformance.runner import DEVIATION
from urlab_ros_bridge.conformance.runner import FAIL
from urlab_ros_bridge.conformance.runner import PASS
from urlab_ros_bridge.conformance.runner import Result
from urlab_ros_bridge.conformance.runner import SKIP

NAME_WIDTH = 42
WIDTH = 99
_WORDS = {PASS: 'pass', FAIL: 'FAIL', SKIP: 'skip', DEVIATION: 'known deviation'}
_COLOURS = {PASS: '\x1b[32m', FAIL: '\x1b[31m', SKIP: '\x1b[2m', DEVIATION: '\x1b[33m'}


def _wrapped(label: str, text: str) -> list[str]:
    lead = ' ' * 6 + f'{label:<9}'
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=lead,
        subsequent_indent=' ' * len(lead),
        max_lines=4,
        break_on_hyphens=False,
    )


def row(result: Result, colour: bool = False) -> str:
    """Return the lines of one result: outcome, name, rule; what went wrong below it."""
    word = f'{_WORDS[result.outcome]:<4}'
    if colour:
        word = f'{_COLOURS[result.outcome]}{word}\x1b[0m'
    head = f'  {word}  {result.transport}  {result.name:<{NAME_WIDTH}}  '
    lines = [head + textwrap.shorten(result.check.rule, max(WIDTH - NAME_WIDTH - 15, 30))]
    if result.outcome in (FAIL, DEVIATION):
        lines += _wrapped('expected', result.expected) + _wrapped('got', result.got)
        lines += _wrapped('page', result.check.source)
    if result.reason:
        lines += _wrapped('why', result.reason)
    return '\n'.join(lines)


def progress(check: Check, number: int, total: int) -> str:
    """Return the line that is shown while a check runs."""
    return textwrap.shorten(f'[{number}/{total}] {check.name}', WIDTH)


def summary(results: Sequence[Result]) -> str:
    """Return the last line: how many of each outcome, and how long it took."""
    counts = counted(results)
    parts = [f'{counts[PASS]} passed', f'{counts[FAIL]} failed', f'{counts[SKIP]} skipped']
    if counts[DEVIATION]:
        parts.append(f'{counts[DEVIATION]} known deviations of the stock plugin')
    seconds = sum(result.seconds for result in results)
    return f'{len(results)} checks: {", ".join(parts)}, in {seconds:.1f} s'


def listing(checks: Iterable[Check]) -> str:
    """Return what `--list` prints: name, where and how it is tried, rule, source."""
    lines = []
    for check in checks:
        where = '/'.join(mode or 'any' for mode in check.modes)
        lines.append(f'{check.name}  ({where}; {"/".join(check.transports)})')
        lines += textwrap.wrap(check.rule, WIDTH, initial_indent='    ', subsequent_indent='    ')
        lines.append(f'    {check.source}')
        if check.stock:
            lines.append(f'    stock plugin, June 2026: {check.stock}')
    return '\n'.join(lines)


def as_json(results: Sequence[Result], server: dict[str, Any]) -> dict[str, Any]:
    """Return the results as a JSON value; `server` describes what was tested."""
    return {
        'server': server,
        'counts': counted(results),
        'results': [
            {
                'name': result.check.name,
                'mode': result.mode or 'any',
                'transport': result.transport,
                'outcome': result.outcome,
                'rule': result.check.rule,
                'source': result.check.source,
                'expected': result.expected,
                'got': result.got,
                'reason': result.reason,
                'seconds': round(result.seconds, 4),
            }
            for result in results
        ],
    }
