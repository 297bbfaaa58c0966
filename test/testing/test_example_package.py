# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The example package of docs/testing.md."""

import os
from pathlib import Path
import shutil
import subprocess
import sys

from lifelines import run_process
import pytest

pytestmark = [pytest.mark.ros, pytest.mark.slow]

PACKAGE = Path(__file__).parents[2] / 'examples' / 'my_robot'
PLUGIN = 'urlab_ros_bridge.testing.pytest_plugin'


def test_the_example_package_passes_its_tests(tmp_path):
    pytest.importorskip('rclpy')
    # By this `colcon test` knows that the tests are pytest's; else it finds none, and is content.
    assert "extras_require={'test': ['pytest']}" in (PACKAGE / 'setup.py').read_text()
    shutil.copytree(PACKAGE, tmp_path, dirs_exist_ok=True)
    places = [str(tmp_path), str(PACKAGE.parents[1]), os.environ.get('PYTHONPATH', '')]
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
