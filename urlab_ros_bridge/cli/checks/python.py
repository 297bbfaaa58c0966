# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Python and its packages."""

from __future__ import annotations

import importlib.metadata
import sys

from urlab_ros_bridge import __version__
from urlab_ros_bridge.cli.checks.finding import Finding
from urlab_ros_bridge.cli.checks.finding import is_absent
from urlab_ros_bridge.cli.checks.finding import run_python
from urlab_ros_bridge.cli.checks.finding import Severity

OLDEST_PYTHON = (3, 11)
# Distribution, module, oldest version: as in setup.py.
PACKAGES = (
    ('numpy', 'numpy', (1, 26)),
    ('pyzmq', 'zmq', (24, 0)),
    ('msgpack', 'msgpack', (1, 0, 3)),
    ('PyYAML', 'yaml', (6, 0)),
    ('rich', 'rich', (13, 0)),
)
# Packages that only some parts of the suite need: distribution, module, oldest version, extra.
OPTIONAL = (
    ('websockets', 'websockets', (15, 0), 'chiral'),
    ('orjson', 'orjson', (3, 10), 'webxr'),
    ('mcap', 'mcap', (1, 6), 'eval'),
    ('onnxruntime', 'onnxruntime', (1, 17), 'policy'),
    ('pyarrow', 'pyarrow', (17, 0), 'eval'),
    ('av', 'av', (14, 0), 'video'),
)
OLDEST_MUJOCO = (3, 3)
_SET_UP = 'run "make setup" in the source folder and ". ./env.sh"'


def version_tuple(text: str) -> tuple[int, ...]:
    """
    Return the leading numbers of a version.

    >>> version_tuple('27.3.0rc1')
    (27, 3, 0)
    """
    numbers = []
    for part in text.split('.'):
        digits = part[: len(part) - len(part.lstrip('0123456789'))]
        if not digits:
            break
        numbers.append(int(digits))
    return tuple(numbers)


def check_python() -> Finding:
    """Check the version of this Python."""
    found = f'{".".join(map(str, sys.version_info[:3]))} ({sys.executable})'
    if sys.version_info[:2] < OLDEST_PYTHON:
        return Finding(
            Severity.FAIL,
            'Python',
            found,
            f'use Python {".".join(map(str, OLDEST_PYTHON))} or newer',
        )
    return Finding(Severity.OK, 'Python', found)


def check_package(distribution: str, module: str, oldest: tuple[int, ...]) -> Finding:
    """Check that a package can be imported and is new enough."""
    works, output = run_python(f'import {module}')
    if not works:
        return Finding(
            Severity.FAIL,
            distribution,
            output,
            f'{_SET_UP}, or install it: "pip install {distribution}"',
        )
    try:
        version = importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return Finding(Severity.OK, distribution, 'installed, version unknown')
    if version_tuple(version) < oldest:
        wanted = '.'.join(map(str, oldest))
        return Finding(
            Severity.FAIL, distribution, version, f'"pip install \'{distribution}>={wanted}\'"'
        )
    return Finding(Severity.OK, distribution, version)


def check_optional(distribution: str, module: str, oldest: tuple[int, ...], extra: str) -> Finding:
    """Check a package that only some parts of the suite need."""
    found = check_package(distribution, module, oldest)
    if found.level is Severity.FAIL and is_absent(found.found, module):
        advice = f'"pip install \'urlab_ros_bridge[{extra}]\'"'
        return Finding(Severity.WARN, distribution, 'not installed', advice)
    return found


def check_mujoco() -> Finding:
    """Check MuJoCo by a simulation step; only the bundled server needs it."""
    works, output = run_python(
        'import mujoco\n'
        'model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><body><freejoint/>'
        "<geom size='.1'/></body></worldbody></mujoco>\")\n"
        'mujoco.mj_step(model, mujoco.MjData(model))\n'
        'print(mujoco.__version__)'
    )
    if not works:
        return Finding(
            Severity.WARN if is_absent(output, 'mujoco') else Severity.FAIL,
            'MuJoCo',
            output,
            f'{_SET_UP}, or "pip install mujoco"; the bridge does not need it',
        )
    if version_tuple(output) < OLDEST_MUJOCO:
        return Finding(Severity.FAIL, 'MuJoCo', output, '"pip install --upgrade mujoco"')
    return Finding(Severity.OK, 'MuJoCo', output)


def check_all() -> list[Finding]:
    """Check Python and its packages."""
    own = Finding(Severity.OK, 'urlab_ros_bridge', __version__)
    return [
        check_python(),
        own,
        *(check_package(*row) for row in PACKAGES),
        *(check_optional(*row) for row in OPTIONAL),
        check_mujoco(),
    ]
