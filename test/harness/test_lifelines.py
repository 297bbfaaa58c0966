# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A test run that is killed leaves nothing behind."""

import os
from pathlib import Path
import sys
import time
import uuid

from lifelines import start_process
import psutil
import pytest

HERE = Path(__file__).parent
TESTS = {
    'servers': 'test_a_server_and_a_stopped_one',
    'renderer': 'test_a_server_in_this_process_with_a_renderer',
    'conformance': 'test_the_server_of_the_conformance_suite',
    'up': 'test_everything_of_up',
}
MARK = 'URLAB_TEST_RUN'


def marked(value):
    """Return the processes that have the variable `MARK` of this value, or a parent that had."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == value:
                found.append(process)
        except (psutil.NoSuchProcess, psutil.ZombieProcess, psutil.AccessDenied):
            continue
    return found


def wait_until(condition, seconds, why):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, why()
        time.sleep(0.2)  # a look at all processes takes its time


@pytest.mark.parametrize(
    ('workers', 'chosen'), [(0, ['servers']), (3, ['renderer', 'conformance', 'up'])]
)
def test_a_killed_run_leaves_no_process_behind(tmp_path, workers, chosen):
    run = str(uuid.uuid4())
    environment = {**os.environ, MARK: run, 'URLAB_TEST_LEFT_BEHIND': str(tmp_path)}
    environment.pop('PYTEST_XDIST_WORKER', None)
    command = [
        sys.executable,
        '-m',
        'pytest',
        f'-n{workers}',
        '--timeout=200',
        '-x',
        '--dist=load',
    ]
    command += [f'{HERE / "left_behind.py"}::{TESTS[name]}' for name in chosen]
    with (tmp_path / 'said').open('wb') as output:
        victim = start_process(command, env=environment, stdout=output, stderr=output)

    def said():
        return (tmp_path / 'said').read_text()

    try:
        wait_until(
            lambda: (
                victim.poll() is not None or all((tmp_path / name).exists() for name in chosen)
            ),
            220,
            said,
        )
        assert victim.poll() is None, said()
        started = marked(run)
        assert len(started) > 1 + workers + len(chosen)
    finally:
        victim.kill()
        victim.wait()
    try:
        wait_until(lambda: not marked(run), 30, lambda: [p.cmdline() for p in marked(run)])
    finally:
        for process in marked(run):
            process.kill()
