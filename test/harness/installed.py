# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Packages of other people, installed."""

from importlib import metadata
from pathlib import Path
import shutil
import sys

from lifelines import run_process

from urlab_ros_bridge.interpreters import version_tuple

EXAMPLES = Path(__file__).parents[2] / 'examples'


def install_example(name, folder):
    """Install a package of `examples/` below `folder`; return the folder to import it from."""
    if version_tuple(metadata.version('setuptools')) < (70, 1):
        import wheel  # noqa: F401, which makes wheels for it
    shutil.copytree(EXAMPLES / name, folder / 'source')
    run_process(
        [
            sys.executable, '-m', 'pip', 'install', '-q', '--no-build-isolation', '--no-deps',
            '--no-index', '--disable-pip-version-check', '--target', folder / 'site',
            folder / 'source',
        ],
        check=True,
    )  # fmt: skip
    return folder / 'site'
