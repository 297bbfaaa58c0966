# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What the workers of a test run share out."""

from pathlib import Path
import sys

from lifelines import run_process

HERE = Path(__file__).parent
CONFTEST = """
import sys

sys.path.insert(0, {here!r})
import work_units


def pytest_xdist_make_scheduler(config, log):
    return work_units.UnitScheduling(config, log)
"""
TESTS = """
import os
from pathlib import Path
import signal
import time

import pytest

CRASHED = Path(__file__).parent / 'crashed'


@pytest.mark.parametrize('number', range(4))
def test_something(number):
    time.sleep(0.02)
    if {name!r} == 'c' and number == 3 and not CRASHED.exists():
        CRASHED.touch()
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_worker_that_crashes_leaves_nothing_undone(tmp_path):
    (tmp_path / 'conftest.py').write_text(CONFTEST.format(here=str(HERE)))
    for name in 'abcdef':
        (tmp_path / f'test_{name}.py').write_text(TESTS.format(name=name))
    options = ('-n2', '--dist=loadfile', '-p', 'no:cacheprovider', f'--rootdir={tmp_path}')
    run = run_process(
        [sys.executable, '-m', 'pytest', *options, tmp_path],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    # The test in which it crashed counts as failed, and is run again with those that were left.
    assert '1 failed, 24 passed' in run.stdout, run.stdout
