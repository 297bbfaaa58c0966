# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The package of docs/testing.md, as it stands there."""

import os
from pathlib import Path
import re
import subprocess
import sys

from lifelines import run_process
import pytest

pytestmark = [pytest.mark.ros, pytest.mark.slow]

PAGE = (Path(__file__).parents[2] / 'docs' / 'testing.md').read_text(encoding='utf-8')
FILE = re.compile(r'^`([\w./]+)`\n\n```\w+\n(.*?)^```$', re.MULTILINE | re.DOTALL)
PLUGIN = 'urlab_ros_bridge.testing.pytest_plugin'


def test_the_package_of_the_page_passes_its_tests(tmp_path):
    pytest.importorskip('rclpy')
    files = dict(FILE.findall(PAGE))
    wanted = {'package.xml', 'setup.py', 'setup.cfg', 'my_robot/driver.py', 'test/test_driver.py'}
    assert set(files) == wanted
    # By this `colcon test` knows that the tests are pytest's; else it finds none, and is content.
    assert "extras_require={'test': ['pytest']}" in files['setup.py']
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding='utf-8')
    (tmp_path / 'my_robot' / '__init__.py').touch()
    root = str(Path(__file__).parents[2])
    places = [str(tmp_path), root, os.environ.get('PYTHONPATH', '')]
    done = run_process(
        [sys.executable, '-m', 'pytest', '-p', PLUGIN, '-p', 'no:cacheprovider', '-v', '.'],
        cwd=tmp_path,
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, places))},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout
    assert '2 passed' in done.stdout
