# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The package examples/my_features, which docs/howto/extend.md explains."""

from pathlib import Path
import shutil
import sys
from types import ModuleType

from lifelines import run_process

PACKAGE = Path(__file__).parents[3] / 'examples' / 'my_features'


def modules():
    """Return its features as modules: height, then contact_count."""
    made = []
    for name in ('height.py', 'contact_count.py'):
        module = ModuleType(f'page_{Path(name).stem}')
        sys.modules[module.__name__] = module  # where dataclasses look names up
        exec(compile((PACKAGE / name).read_text(), name, 'exec'), vars(module))
        made.append(module)
    return made


def install(folder, **changed):
    """Install the package below a folder; return where it is importable from."""
    source, target = folder / 'source', folder / 'site'
    shutil.copytree(PACKAGE, source)
    for name, text in changed.items():
        (source / name).write_text(text)
    run_process(
        [
            sys.executable, '-m', 'pip', 'install', '-q', '--no-build-isolation', '--no-deps',
            '--no-index', '--disable-pip-version-check', '--target', target, source,
        ],
        check=True,
    )  # fmt: skip
    return target
