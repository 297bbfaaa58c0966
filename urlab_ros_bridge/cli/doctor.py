# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab doctor`: run all checks and print one table."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import sys
import textwrap
from typing import Any

from urlab_ros_bridge.cli.checks import Finding
from urlab_ros_bridge.cli.checks import Level
from urlab_ros_bridge.cli.checks import worst
from urlab_ros_bridge.cli.commands import DOCTOR
from urlab_ros_bridge.cli.parser import make_parser
from urlab_ros_bridge.cli.parser import plain_errors

SUBJECT_WIDTH = 22
WIDTH = 99
_WORDS = {Level.OK: 'ok', Level.WARN: 'warn', Level.FAIL: 'FAIL'}
_COLOURS = {Level.OK: '\x1b[32m', Level.WARN: '\x1b[33m', Level.FAIL: '\x1b[31m'}


def _network(values: Mapping[str, Any]) -> list[Finding]:
    # Imported late: it needs packages that the check before it may have found missing.
    try:
        from urlab_ros_bridge.cli.checks import network
    except ImportError as error:
        return [Finding(Level.FAIL, 'network', f'not checked: {error}', 'install what is missing')]
    return network.check_all(values)


def groups(values: Mapping[str, Any]) -> list[tuple[str, Callable[[], list[Finding]]]]:
    """Return the titles and the checks in order of the table."""
    from urlab_ros_bridge.cli.checks import graphics
    from urlab_ros_bridge.cli.checks import python
    from urlab_ros_bridge.cli.checks import ros
    from urlab_ros_bridge.cli.checks import system

    return [
        ('Python', python.check_all),
        ('Rendering', graphics.check_all),
        ('ROS 2', ros.check_all),
        ('Server', lambda: _network(values)),
        ('Machine', system.check_all),
    ]


def row(finding: Finding, colour: bool) -> str:
    """Return the lines of one finding, its advice below it."""
    word = f'{_WORDS[finding.level]:<4}'
    if colour:
        word = f'{_COLOURS[finding.level]}{word}\x1b[0m'
    lines = [f'  {word}  {finding.subject:<{SUBJECT_WIDTH}}  {finding.found}']
    if finding.advice:
        indent = ' ' * (SUBJECT_WIDTH + 10)
        lines += textwrap.wrap(
            finding.advice,
            WIDTH,
            initial_indent=f'{indent}-> ',
            subsequent_indent=f'{indent}   ',
            break_on_hyphens=False,
        )
    return '\n'.join(lines)


def summary(findings: Iterable[Finding]) -> str:
    """Return the last line: how many of each level."""
    levels = [finding.level for finding in findings]
    if worst_level := max(levels, default=Level.OK):
        problems, warnings = levels.count(Level.FAIL), levels.count(Level.WARN)
        parts = [f'{problems} failed'] if problems else []
        parts += [f'{warnings} to look at'] if warnings else []
        return f'{len(levels)} checks, {", ".join(parts)}' + (
            '' if worst_level is Level.FAIL else ': it should work'
        )
    return f'{len(levels)} checks, all well'


@plain_errors
def main(argv: Sequence[str]) -> int:
    """Run `urlab doctor` with the words after its name; return 1 when something fails."""
    values = vars(make_parser(DOCTOR).parse_args(argv))
    findings: list[Finding] = []
    for title, check in groups(values):
        print(f'{title}:', flush=True)
        for finding in check():
            findings.append(finding)
            print(row(finding, sys.stdout.isatty()), flush=True)
    print(summary(findings))
    return int(worst(findings) is Level.FAIL)


if __name__ == '__main__':
    sys.exit(main())
