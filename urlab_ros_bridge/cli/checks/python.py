# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The Pythons and their packages: this one, and that of the environment of `urlab setup`."""

from __future__ import annotations

import importlib.metadata
import os
import sys

from urlab_ros_bridge import __version__
from urlab_ros_bridge.cli.checks.finding import Finding
from urlab_ros_bridge.cli.checks.finding import run_python
from urlab_ros_bridge.cli.checks.finding import Severity
from urlab_ros_bridge.cli.own_environment import installed_parts
from urlab_ros_bridge.interpreters import find_python
from urlab_ros_bridge.interpreters import missing_in
from urlab_ros_bridge.interpreters import own_folder
from urlab_ros_bridge.interpreters import python_of
from urlab_ros_bridge.interpreters import version_tuple

OLDEST_PYTHON = (3, 11)
# Distribution, module, oldest version: as in setup.py.
PACKAGES = (
    ('numpy', 'numpy', (1, 26)),
    ('pyzmq', 'zmq', (24, 0)),
    ('msgpack', 'msgpack', (1, 0, 3)),
    ('Pillow', 'PIL', (9, 4)),
    ('PyYAML', 'yaml', (6, 0)),
    ('rich', 'rich', (13, 0)),
)
# Packages that only some parts of the suite need, and the part of `urlab setup` that has them.
OPTIONAL = {
    'websockets': 'chiral',
    'orjson': 'webxr',
    'mcap': 'bags',
    'onnxruntime': 'policy',
    'pyarrow': 'eval',
    'av': 'video',
}
_SET_UP = 'run rosdep as in the README; without ROS: "make setup", then ". ./env.sh"'


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


def check_own_environment() -> Finding:
    """Check the environment of `urlab setup`: where it is, and what it has."""
    folder = own_folder()
    python, subject = python_of(folder), 'environment'
    if not os.access(python, os.X_OK):
        return Finding(
            Severity.OK,
            subject,
            f'none; "urlab setup" installs the simulator and the gateways into {folder}',
        )
    works, output = run_python('import platform; print(platform.python_version())', python=python)
    if not works:
        return Finding(Severity.FAIL, subject, f'{python}: {output}', 'run "urlab setup" again')
    parts = ', '.join(installed_parts()) or 'not finished: run "urlab setup" again'
    return Finding(Severity.OK, subject, f'{output} ({python}): {parts}')


def check_package(distribution: str, module: str, oldest: tuple[int, ...]) -> Finding:
    """Check that a package of this Python can be imported and is new enough."""
    works, output = run_python(f'import {module}')
    if not works:
        return Finding(Severity.FAIL, distribution, output, _SET_UP)
    try:
        version = importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return Finding(Severity.OK, distribution, 'installed, version unknown')
    if version_tuple(version) < oldest:
        wanted = '.'.join(map(str, oldest))
        return Finding(Severity.FAIL, distribution, f'{version}; needs {wanted} or newer', _SET_UP)
    return Finding(Severity.OK, distribution, version)


def check_optional(module: str, part: str) -> Finding:
    """Check a package that only some parts of the suite need, on the Python that has it."""
    python = find_python((module,))
    if python is None:
        advice = f'"urlab setup --with {part}"'
        # Where it is here, find_python has refused it.
        found = 'not installed' if missing_in(sys.executable, (module,)) else 'not usable'
        return Finding(Severity.WARN, module, found, advice)
    works, output = run_python(
        f'import {module}; from importlib import metadata; print(metadata.version({module!r}))',
        python=python,
    )
    level = Severity.OK if works else Severity.FAIL
    return Finding(level, module, output + _where(python), '' if works else 'install it again')


def check_mujoco() -> Finding:
    """Check MuJoCo by a simulation step; only the bundled server needs it."""
    python = find_python(('mujoco',))
    advice = '"urlab setup" installs it; the bridge does not need it'
    if python is None:
        return Finding(Severity.WARN, 'MuJoCo', 'not installed', advice)
    works, output = run_python(
        'import mujoco\n'
        'model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><body><freejoint/>'
        "<geom size='.1'/></body></worldbody></mujoco>\")\n"
        'mujoco.mj_step(model, mujoco.MjData(model))\n'
        'print(mujoco.__version__)',
        python=python,
    )
    if not works:
        return Finding(Severity.FAIL, 'MuJoCo', output + _where(python), advice)
    return Finding(Severity.OK, 'MuJoCo', output + _where(python))


def _where(python: str) -> str:
    """Return the Python that has a package, where it is not this one."""
    if python == sys.executable:
        return ''
    return ', in the environment' if python == python_of(own_folder()) else f' ({python})'


def check_all() -> list[Finding]:
    """Check the Pythons and their packages."""
    own = Finding(Severity.OK, 'urlab_ros_bridge', __version__)
    return [
        check_python(),
        own,
        *(check_package(*row) for row in PACKAGES),
        check_own_environment(),
        check_mujoco(),
        *(check_optional(*row) for row in OPTIONAL.items()),
    ]
