# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The package that docs/howto/add_a_feature.md adds, as the page has it."""

from pathlib import Path
import re
import sys
from types import ModuleType

from lifelines import run_process

import urlab_ros_bridge

PAGE = Path(urlab_ros_bridge.__file__).parents[1] / 'docs' / 'howto' / 'add_a_feature.md'
_FILE = re.compile(r'New file `([\w.]+)`:\n\n```\w+\n(.*?)```', re.S)


def files():
    """Return the files of the page by name."""
    found = dict(_FILE.findall(PAGE.read_text()))
    assert set(found) == {'pyproject.toml', 'height.py', 'contact_count.py'}
    return found


def modules():
    """Return the features of the page as modules: height, then contact_count."""
    made = []
    for name in ('height.py', 'contact_count.py'):
        module = ModuleType(f'page_{Path(name).stem}')
        sys.modules[module.__name__] = module  # where dataclasses look names up
        exec(compile(files()[name], name, 'exec'), vars(module))
        made.append(module)
    return made


def install(folder, **changed):
    """Install the package of the page below a folder; return where it is importable from."""
    source, target = folder / 'source', folder / 'site'
    source.mkdir()
    for name, text in {**files(), **changed}.items():
        (source / name).write_text(text)
    run_process(
        [
            sys.executable, '-m', 'pip', 'install', '-q', '--no-build-isolation', '--no-deps',
            '--no-index', '--disable-pip-version-check', '--target', target, source,
        ],
        check=True,
    )  # fmt: skip
    return target
