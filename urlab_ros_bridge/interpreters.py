# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Which Python runs a program: this one, or that of the environment that `urlab setup` makes.

pip must not install into the Python of a distribution (PEP 668), which is that of ROS.  The server
and the gateways never import rclpy, so their packages have a virtual environment of their own.
Imports only the standard library; as a script, it prints which of the named modules are missing.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
import os
from pathlib import Path
import signal
import subprocess
import sys

# Modules that every program needs; rosdep installs them.
CORE = ('msgpack', 'numpy', 'PIL', 'rich', 'yaml', 'zmq')
# Modules of which a distribution may have a version that is too old: oldest one, as in setup.py.
OLDEST = {
    'av': (14, 0),
    'mcap': (1, 6),
    'mujoco': (3, 3),
    'onnxruntime': (1, 17),
    'orjson': (3, 10),
    'pyarrow': (17, 0),
    'websockets': (17, 4),
}
ROS = 'rclpy'
MAIN = 'urlab_ros_bridge.cli.main'
_PARENT = str(Path(__file__).parents[1])
_SECONDS = 20.0


def own_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """
    Return the folder of the environment of `urlab setup`; it may not exist yet.

    It is in the data folder of the user, one for each version of Python.  A package that pip has
    installed into a virtual environment uses that one.
    """
    if in_environment() and Path(sys.prefix) in Path(__file__).parents:
        return Path(sys.prefix)
    data = environ.get('XDG_DATA_HOME', '')
    base = data if os.path.isabs(data) else os.path.expanduser('~/.local/share')
    return Path(base, 'urlab_ros_bridge', 'python{}.{}'.format(*sys.version_info))


def in_environment() -> bool:
    """Return whether this Python is that of a virtual environment."""
    return sys.prefix != sys.base_prefix


def python_of(folder: Path | str) -> str:
    """Return the interpreter of a virtual environment."""
    return str(Path(folder, 'bin', 'python'))


def find_python(needs: Sequence[str] = (), environ: Mapping[str, str] = os.environ) -> str | None:
    """
    Return the first Python that has all modules, or None.

    Programs of ROS, and those that need no more than `CORE`, prefer this Python: `ros2` runs on
    that of the ROS installation.  The others prefer a virtual environment: this one, the active
    one, that of `urlab setup`.

    :param needs: names of modules, in addition to `CORE`.
    """
    wanted = (*CORE, *needs)
    candidates = _candidates(not needs or ROS in needs, environ)
    return next((python for python in candidates if not missing_in(python, wanted)), None)


def _candidates(prefers_this: bool, environ: Mapping[str, str]) -> list[str]:
    this, base = [sys.executable], []
    if in_environment():
        base = [os.path.join(sys.base_prefix, 'bin', 'python{}.{}'.format(*sys.version_info))]
    active = [python_of(environ['VIRTUAL_ENV'])] if environ.get('VIRTUAL_ENV') else []
    own = [python_of(own_folder(environ))]
    if prefers_this:
        order = [*this, *active, *base, *own]
    elif in_environment():
        order = [*this, *active, *own, *base]
    else:
        order = [*active, *own, *this]
    return [python for python in order if os.access(python, os.X_OK)]


def missing_in(python: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the modules that an interpreter lacks, or has in a version that is too old."""
    if python == sys.executable:
        return missing_here(names)
    return _missing_elsewhere(python, tuple(names), os.environ.get('PYTHONPATH', ''))


def missing_here(names: Iterable[str]) -> tuple[str, ...]:
    """Return the modules that this Python lacks, or has in a version that is too old."""
    names = list(names)
    if ROS in names:
        add_own_packages()
    return tuple(name for name in names if not (_is_importable(name) and _is_new_enough(name)))


def add_own_packages() -> None:
    """
    Let a program of ROS find what the environment of `urlab setup` has in addition.

    The packages of this Python take precedence.
    """
    folder = own_folder() / 'lib' / 'python{}.{}'.format(*sys.version_info) / 'site-packages'
    if folder.is_dir() and str(folder) not in sys.path:
        sys.path.append(str(folder))


def variables_for(python: str, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables with which another Python finds this package."""
    paths = [path for path in environ.get('PYTHONPATH', '').split(os.pathsep) if path]
    if python == sys.executable or _PARENT in paths:
        return {}
    return {'PYTHONPATH': os.pathsep.join([_PARENT, *paths])}


def continue_on(python: str, words: Sequence[str]) -> None:
    """Turn this process into `urlab` on another Python; return if it is this one."""
    if python == sys.executable:
        return
    # Until the program handles it, Ctrl-C would print a traceback (`cli.signals`).
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    environ = {**os.environ, **variables_for(python)}
    os.execve(python, [python, '-P', '-m', MAIN, *words], environ)


def _is_importable(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):  # ValueError: sys.modules has None for it
        return False


def _is_new_enough(name: str) -> bool:
    oldest = OLDEST.get(name)
    if oldest is None:
        return True
    from importlib import metadata  # 50 ms

    try:
        return version_tuple(metadata.version(name)) >= oldest
    except metadata.PackageNotFoundError:
        return True  # importable, so installed in a way of its own


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


@cache
def _missing_elsewhere(python: str, names: tuple[str, ...], _: str) -> tuple[str, ...]:
    try:
        done = subprocess.run(
            [python, '-P', __file__, *names],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return names
    return tuple(done.stdout.split())


if __name__ == '__main__':
    print(*missing_here(sys.argv[1:]))
