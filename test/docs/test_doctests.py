# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Every example in a docstring gives what it says."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NEED_ROS = ('ros', 'policy')
MODULES = [
    '.'.join(path.relative_to(root).with_suffix('').parts)
    for root, package in ((ROOT, 'urlab_ros_bridge'), (ROOT / 'examples', 'simspark_client'))
    for path in sorted(root.glob(f'{package}/**/*.py'))
    if '>>> ' in path.read_text()
]


@pytest.mark.parametrize('name', MODULES)
def test_the_examples_of_a_module(name):
    if name.split('.')[1] in NEED_ROS:
        pytest.importorskip('rclpy')
    module = importlib.import_module(name)
    finder = doctest.DocTestFinder()
    examples = [each for each in finder.find(module, name) if each.examples]
    assert examples, 'it has examples that doctest does not find'
    runner = doctest.DocTestRunner()
    for each in examples:
        runner.run(each)
    assert not runner.failures
