# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The virtual environment of the simulator and the gateways, as `urlab setup` makes it."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import contextmanager
import fcntl
import hashlib
from importlib import metadata
import json
import os
from pathlib import Path
import re
import shlex
import shutil
import subprocess
import sys

from urlab_ros_bridge.cli.errors import CliError
from urlab_ros_bridge.files.folders import PACKAGE
from urlab_ros_bridge.files.folders import shipped_file
from urlab_ros_bridge.interpreters import CORE
from urlab_ros_bridge.interpreters import in_environment
from urlab_ros_bridge.interpreters import missing_in
from urlab_ros_bridge.interpreters import own_folder
from urlab_ros_bridge.interpreters import python_of
from urlab_ros_bridge.schema import hint

# The versions that CI tests; names that are not installed have no effect.
LOCK = 'pypi/requirements/jazzy.lock'
ALWAYS = 'sim'
NOT_PARTS = ('completion', 'test', ALWAYS)
_STAMP = '.urlab-setup'
_EXTRA = re.compile(r'([^;]+?)\s*;.*\bextra == ["\']([\w-]+)["\']')
# What a shell with ROS, or another environment, would let pip find in place of its own.
_FOREIGN = ('PYTHONPATH', 'PYTHONHOME', 'VIRTUAL_ENV', 'LD_LIBRARY_PATH')


class SetupFailed(CliError):
    """The environment cannot be made; the message says what to do."""


def requirements_by_part() -> dict[str, list[str]]:
    """
    Return the requirements of each extra of this package; under '' those of all.

    :raises SetupFailed: when this package is not installed.
    """
    try:
        texts = metadata.requires(PACKAGE) or []
    except metadata.PackageNotFoundError:
        raise SetupFailed(
            f'{PACKAGE} is not installed for {sys.executable}: build it with colcon, or install '
            'it with pip'
        ) from None
    found: dict[str, list[str]] = {'': []}
    for text in texts:
        extra = _EXTRA.match(text)
        found.setdefault(extra[2] if extra else '', []).append(extra[1] if extra else text)
    return found


def unknown_part(text: str) -> str:
    """Check that a text names parts, separated by commas."""
    valid = sorted(set(requirements_by_part()) - {'', *NOT_PARTS})
    unknown = [part for part in text.split(',') if part and part not in (*valid, ALWAYS)]
    return f'unknown part {unknown[0]!r}; {hint(unknown[0], valid)}' if unknown else ''


def make_environment(parts: set[str], wheelhouse: Path | None = None) -> str:
    """
    Make the environment with some parts, or add them to it; return a description.

    Does nothing, and needs no network, when all of that is there.

    :param wheelhouse: folder of wheels to install from, instead of an index.
    :raises SetupFailed: when something is missing, or cannot be installed.
    """
    folder = own_folder()
    with _locked(folder):
        stamp = folder / _STAMP
        before = _read_stamp(stamp)
        wanted = sorted({ALWAYS, *parts, *before.get('parts', [])})
        known = requirements_by_part()
        requirements = sorted({each for part in ('', *wanted) for each in known.get(part, [])})
        lock = shipped_file(LOCK)
        content = {
            'parts': wanted,
            'requirements': requirements,
            'lock': hashlib.sha256(lock.read_bytes()).hexdigest(),
        }
        python = python_of(folder)
        if content == before and not missing_in(python, _checked()):
            return f'Nothing to do: {folder} has {", ".join(wanted)}.'
        install = [*requirements, '-c', str(lock)]
        if wheelhouse:
            install += _offline(wheelhouse, install)
        print(f'Installing {", ".join(wanted)} into {folder}', flush=True)
        _install(folder, install)
        if missing := missing_in(python, _checked()):
            raise SetupFailed(
                f'{folder} still lacks {", ".join(missing)}: remove it and try again'
            )
        stamp.write_text(json.dumps(content, indent=1) + '\n', encoding='utf-8')
    return (
        f'{folder} has {", ".join(wanted)}. Launch files and urlab use it from now on; there is '
        'nothing to activate.'
    )


def installed_parts() -> list[str]:
    """Return the parts in the environment of `urlab setup`, empty if there is none."""
    return list(_read_stamp(own_folder() / _STAMP).get('parts', []))


def _checked() -> tuple[str, ...]:
    return (*CORE, 'mujoco')


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let no other `urlab setup` change the folder in the meantime."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / 'setup.lock').open('w') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _read_stamp(stamp: Path) -> dict[str, list[str]]:
    try:
        found = json.loads(stamp.read_text(encoding='utf-8'))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _offline(wheelhouse: Path, install: Sequence[str]) -> list[str]:
    if not any(wheelhouse.glob('*.whl')):
        raise SetupFailed(
            f'there are no wheels in {wheelhouse}: fill it on a machine with internet, the same '
            'version of Python and the same lock file:\n  python3 -m pip download '
            f'--dest {shlex.quote(str(wheelhouse))} {shlex.join(install)}'
        )
    return ['--no-index', '--find-links', str(wheelhouse.absolute())]


def _install(folder: Path, install: Sequence[str]) -> None:
    """Install by uv where it is there and works, else by pip."""
    python = python_of(folder)
    is_made = in_environment() and Path(sys.prefix) == folder
    base = os.path.join(sys.base_prefix, 'bin', 'python{}.{}'.format(*sys.version_info))
    if uv := shutil.which('uv'):
        make = (
            []
            if is_made
            else [[uv, 'venv', '--quiet', '--allow-existing', '--python', base, str(folder)]]
        )
        if _run(*make, [uv, 'pip', 'install', '--python', python, *install]):
            return
        print('uv could not install them; trying pip', flush=True)
    if not is_made and not _run([base, '-c', 'import ensurepip, venv']):
        raise SetupFailed('the Python module venv is missing: sudo apt install python3-venv')
    make = [] if is_made else [[base, '-m', 'venv', str(folder)]]
    pip = [python, '-m', 'pip', '--disable-pip-version-check', 'install']
    if not _run(*make, [*pip, *install]):
        raise SetupFailed(
            'the packages could not be installed (see above). Without internet: --wheelhouse DIR'
        )


def _run(*commands: Sequence[str]) -> bool:
    """Run commands, with their output; return whether all succeeded."""
    environ = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
    return all(
        subprocess.run(command, env=environ, stdin=subprocess.DEVNULL, check=False).returncode == 0
        for command in commands
    )
