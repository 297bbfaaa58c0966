# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab doctor`: run all checks and print one table."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from dataclasses import dataclass
import sys
import textwrap

from urlab_ros_bridge.cli.arguments.command import Command
from urlab_ros_bridge.cli.arguments.command import ParsedArguments
from urlab_ros_bridge.cli.arguments.groups import CameraPort
from urlab_ros_bridge.cli.arguments.groups import HostArguments
from urlab_ros_bridge.cli.arguments.groups import PortOffset
from urlab_ros_bridge.cli.arguments.groups import RpcPort
from urlab_ros_bridge.cli.arguments.groups import StatePort
from urlab_ros_bridge.cli.checks.faces import Face
from urlab_ros_bridge.cli.checks.faces import FACES
from urlab_ros_bridge.cli.checks.finding import Finding
from urlab_ros_bridge.cli.checks.finding import Severity
from urlab_ros_bridge.cli.checks.finding import worst
from urlab_ros_bridge.schema import key

SUBJECT_WIDTH = 22
WIDTH = 99
_WORDS = {Severity.OK: 'ok', Severity.WARN: 'warn', Severity.FAIL: 'FAIL'}
_COLOURS = {Severity.OK: '\x1b[32m', Severity.WARN: '\x1b[33m', Severity.FAIL: '\x1b[31m'}


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
    if worst_level := max(levels, default=Severity.OK):
        problems, warnings = levels.count(Severity.FAIL), levels.count(Severity.WARN)
        parts = [f'{problems} failed'] if problems else []
        parts += [f'{warnings} warning' + 's' * (warnings > 1)] if warnings else []
        return f'{len(levels)} checks, {", ".join(parts)}' + (
            '' if worst_level is Severity.FAIL else ': it should work'
        )
    return f'{len(levels)} checks, all passed'


def face_row(face: Face, findings: Iterable[Finding]) -> str:
    """Return the line of one face: whether it works here, and if not, what is missing."""
    missing = face.missing(findings)
    word, reason = ('no ', f'needs {", ".join(missing)}') if missing else ('yes', face.text)
    return f'  {word}   {face.name:<{SUBJECT_WIDTH}}  {reason}'


def run(given: ParsedArguments[DoctorArguments]) -> int:
    """Check everything; return 1 when something fails."""
    findings: list[Finding] = []
    for title, check in groups(given.values):
        print(f'{title}:', flush=True)
        for finding in check():
            findings.append(finding)
            print(row(finding, sys.stdout.isatty()), flush=True)
    print('What works here:')
    for face in FACES:
        print(face_row(face, findings))
    print(summary(findings))
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
