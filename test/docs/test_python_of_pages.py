# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The Python on the pages is Python, and what it imports of this package is there."""

import ast
from importlib import import_module
from pathlib import Path
import re
import textwrap

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r'^( *)```python\n(.*?)^ *```', re.S | re.M)
PAGES = [
    page
    for page in [ROOT / 'README.md', *ROOT.glob('docs/**/*.md')]
    if BLOCK.search(page.read_text())
]


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.stem)
def test_imports_of_a_page_are_there(page):
    for _, text in BLOCK.findall(page.read_text()):
        for node in ast.walk(ast.parse(textwrap.dedent(text))):
            if isinstance(node, ast.ImportFrom) and node.module.startswith('urlab_ros_bridge'):
                if node.module.startswith('urlab_ros_bridge.ros'):
                    pytest.importorskip('rclpy')
                module = import_module(node.module)
                for name in node.names:
                    if not hasattr(module, name.name):  # then it is a module
                        import_module(f'{node.module}.{name.name}')
