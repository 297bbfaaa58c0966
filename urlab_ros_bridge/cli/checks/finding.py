# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Results of checks, and Python code that may crash run in another process."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
import enum
import os
import subprocess
import sys

TOO_SLOW = 'no result within {:g} s'


class Severity(enum.IntEnum):
    """The severity of a finding."""

    OK = 0
    WARN = 1
    FAIL = 2


@dataclass(frozen=True, slots=True)
class Finding:
    """
    One row of the doctor's table.

    :ivar subject: the checked item, in one to three words.
    :ivar found: the result.
    :ivar advice: what to do; empty when there is no problem.
    """

    level: Severity
    subject: str
    found: str
    advice: str = ''


def worst(findings: Iterable[Finding]) -> Severity:
    """Return the worst level, OK for none."""
    return max((finding.level for finding in findings), default=Severity.OK)


def run_python(
    code: str,
    extra: Mapping[str, str] | None = None,
    timeout: float = 20.0,
    python: str = sys.executable,
) -> tuple[bool, str]:
    """
    Run Python code in its own process, so that crashes of drivers are contained.

    :param extra: environment variables on top of ours.
    :param python: interpreter that runs it.
    :return: whether it succeeded, and its last line of output, or how it failed.
    """
    try:
        done = subprocess.run(
            [python, '-c', code],
            env={**os.environ, **(extra or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False, TOO_SLOW.format(timeout)
    if done.returncode < 0:
        return False, f'crashed with signal {-done.returncode}'
    text = (done.stdout if done.returncode == 0 else done.stderr).strip()
    last = text.splitlines()[-1] if text else f'exit code {done.returncode}'
    return done.returncode == 0, last


def is_absent(output: str, module: str) -> bool:
    """Return whether Python reported that a package is not installed, rather than broken."""
    return f"No module named '{module}'" in output
