# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A short run of the fault matrix; `make soak` is the long one."""

import os
from pathlib import Path
import sys

from lifelines import run_process
import pytest

HERE = Path(__file__).resolve().parent
LIMIT = 280  # s, for a machine that others load as well


@pytest.mark.slow
def test_one_fault_of_each_kind_breaks_no_invariant():
    own = (str(HERE.parent / 'harness'), str(HERE.parents[1] / 'examples'))
    path = os.pathsep.join((*own, os.environ.get('PYTHONPATH', '')))
    done = run_process(
        [sys.executable, HERE / 'run_soak.py', '--short'],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        env={**os.environ, 'PYTHONPATH': path},
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert 'all invariants hold' in done.stdout
