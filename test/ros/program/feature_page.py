# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The features that docs/howto/add_a_feature.md adds, as the page has them."""

import os
from pathlib import Path
import re
import shutil
import sys
from types import ModuleType

import urlab_ros_bridge

PACKAGE = Path(urlab_ros_bridge.__file__).parent
PAGE = PACKAGE.parent / 'docs' / 'howto' / 'add_a_feature.md'
_FILE = re.compile(r'New file `([\w/]+\.py)`:\n\n```python\n(.*?)```', re.S)
_LISTED = re.compile(r'`(\w+\.FEATURE,)`')


def files():
    """Return the new files of the page: path within the package -> text."""
    found = dict(_FILE.findall(PAGE.read_text()))
    assert len(found) == 2
    return found


def modules():
    """Return the new files as modules."""
    made = []
    for path, text in files().items():
        module = ModuleType(f'page_{Path(path).stem}')
        sys.modules[module.__name__] = module  # where dataclasses look names up
        exec(compile(text, path, 'exec'), vars(module))
        made.append(module)
    return made


def extend_package(folder):
    """Make a package in a folder that is ours, of links, with all that the page adds."""
    package = folder / PACKAGE.name
    shutil.copytree(PACKAGE, package, copy_function=os.symlink)
    imports = []
    for path, text in files().items():
        (package / path).write_text(text)
        place = Path(path)
        imports.append(f'from {PACKAGE.name}.{".".join(place.parent.parts)} import {place.stem}\n')
    listing = package / 'ros' / 'program' / 'features.py'
    before = listing.read_text()
    listed = _LISTED.findall(PAGE.read_text())
    assert len(listed) == len(imports)
    begin = 'FEATURES: tuple[Feature, ...] = (\n'
    assert begin in before
    lines = ''.join(f'    {line}\n' for line in listed)
    listing.unlink()  # a link to ours
    listing.write_text(before.replace(begin, f'{"".join(imports)}\n{begin}{lines}'))
