# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab doctor`: run all checks and print one table."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from urlab_ros_bridge.cli.arguments.command import Command
from urlab_ros_bridge.cli.arguments.command import ParsedArguments
from urlab_ros_bridge.cli.arguments.groups import CameraPort
from urlab_ros_bridge.cli.arguments.groups import HostArguments
from urlab_ros_bridge.cli.arguments.groups import PortOffset
from urlab_ros_bridge.cli.arguments.groups import RpcPort
from urlab_ros_bridge.cli.arguments.groups import StatePort
from urlab_ros_bridge.cli.checks.faces import FACES
from urlab_ros_bridge.cli.checks.finding import Finding
from urlab_ros_bridge.cli.checks.finding import Severity
from urlab_ros_bridge.cli.checks.finding import worst
from urlab_ros_bridge.schema import key

LEVEL_WIDTH, SUBJECT_WIDTH = 4, 22
PIPED_WIDTH = 99
_WORDS = {Severity.OK: 'ok', Severity.WARN: 'warn', Severity.FAIL: 'FAIL'}
_STYLES = {Severity.OK: 'green', Severity.WARN: 'yellow', Severity.FAIL: 'red'}


@dataclass(frozen=True, kw_only=True)
class DoctorArguments(HostArguments, RpcPort, StatePort, CameraPort, PortOffset):
    """The arguments of `urlab doctor`."""

    timeout: float = key(
        1.0, 'Timeout for a reply of the server.', metavar='SECONDS', low=0.0, unit='s'
    )


def _network(values: DoctorArguments) -> list[Finding]:
    # Imported late: it needs packages that the check before it may have found missing.
    try:
        from urlab_ros_bridge.cli.checks import network
    except ImportError as error:
        return [
            Finding(
                Severity.FAIL, 'network', f'not checked: {error}', 'install the missing package'
            )
        ]
    return network.check_all(
        values.host,
        {name: values.moved(name) for name in values.port_names()},
        values.timeout,
        values.keys,
    )


def groups(values: DoctorArguments) -> list[tuple[str, Callable[[], list[Finding]]]]:
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


def findings_table(findings: Iterable[Finding]) -> Table:
    """Return the rows of findings, with advice below what was found."""
    table = _table()
    for finding in findings:
        advice = f'\n-> {finding.advice}' if finding.advice else ''
        level = Text(_WORDS[finding.level], _STYLES[finding.level])
        table.add_row('', level, Text(finding.subject), Text(finding.found + advice))
    return table


def faces_table(findings: Sequence[Finding]) -> Table:
    """Return the rows of the parts of the suite: whether each works, or what is missing."""
    table = _table()
    for face in FACES:
        absent = face.missing(findings)
        remedy = f' ("{face.setup}")' if face.setup else ''
        text = f'needs {", ".join(absent)}{remedy}' if absent else face.text
        table.add_row('', 'no' if absent else 'yes', face.names, text)
    return table


def _table() -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for width in (0, LEVEL_WIDTH, SUBJECT_WIDTH):
        table.add_column(width=width)
    table.add_column(overflow='fold')
    return table


def summary(findings: Iterable[Finding]) -> str:
    """Return the last line: how many of each level."""
    levels = [finding.level for finding in findings]
    if worst_level := max(levels, default=Severity.OK):
        problems, warnings = levels.count(Severity.FAIL), levels.count(Severity.WARN)
        parts = [f'{problems} failed'] if problems else []
        parts += [f'{warnings} warning' + 's' * (warnings > 1)] if warnings else []
        return f'{len(levels)} checks, {", ".join(parts)}' + (
            '' if worst_level is Severity.FAIL else ': it should work'
        )
    return f'{len(levels)} checks, all passed'


def run(given: ParsedArguments[DoctorArguments]) -> int:
    """Check everything; return 1 when something fails."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = PIPED_WIDTH
    findings: list[Finding] = []
    for title, check in groups(given.values):
        console.print(f'{title}:')
        found = check()
        findings += found
        console.print(findings_table(found))
    console.print('What works here:')
    console.print(faces_table(findings))
    console.print(summary(findings))
    return int(worst(findings) is Severity.FAIL)


COMMAND = Command(
    name='doctor',
    summary='Check this machine and explain how to fix it.',
    text='Check Python, packages, ROS 2, MuJoCo, rendering, ports and a running server. Suggests\n'
    'a fix for each problem and lists which parts of the suite work here. Changes nothing. Exit\n'
    'code 1 if something is broken; a part that is not installed is not broken.',
    section=DoctorArguments,
    run=run,
    examples=(
        ('urlab doctor', 'check everything'),
        ('urlab doctor --host 192.168.1.20', 'check a server on another machine'),
    ),
)
