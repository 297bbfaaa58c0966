# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A short run of the fault matrix (`make soak` is the long one), and that it notices faults."""

import os
from pathlib import Path
import sys

from lifelines import run_process
import pytest

HERE = Path(__file__).resolve().parent
LIMIT = 280  # s, for a machine that others load as well


@pytest.fixture(scope='module')
def soak():
    """Return the modules beside this file."""
    sys.path.insert(0, str(HERE))
    import fault_proxy
    import run_soak
    import watchers

    yield fault_proxy, run_soak, watchers
    sys.path.remove(str(HERE))


@pytest.mark.slow
def test_one_fault_of_each_kind_breaks_no_invariant():
    path = os.pathsep.join((str(HERE.parent / 'harness'), os.environ.get('PYTHONPATH', '')))
    words = ['--short', '--window', '0.5', '--connections', '300']
    done = run_process(
        [sys.executable, HERE / 'run_soak.py', *words],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        env={**os.environ, 'PYTHONPATH': path},
    )
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert 'all invariants hold' in done.stdout


class NoPrograms:
    """Programs that logged something."""

    def __init__(self, logged=''):
        self._logged = logged

    def log(self, name):
        return self._logged


def judged(soak, rows, codes=None, logged='', saved=None):
    """Return what the invariants say of a log."""
    made = object.__new__(soak[1].Soak)
    made.log, made.results = soak[2].Log(), []
    made.programs, made.saved, made.bags = NoPrograms(logged), saved or {}, {}
    for row in rows:
        made.log.add(**row)
    return soak[1].broken_invariants(made, codes or {'server': 0})


def at(time, who='state direct', epoch=1):
    return {'who': who, 'time': time, 'epoch': epoch}


def test_every_broken_invariant_is_noticed(soak, tmp_path):
    assert judged(soak, [at(1.0), at(1.0), at(2.0), at(0.5, epoch=2), at(0.1, 'rpc direct')]) == []
    assert 'time went back' in judged(soak, [at(1.0), at(0.9)])[0]
    assert 'one reply a request' in judged(soak, [{'who': 'x', 'wrong': 'a answered by b'}])[0]
    assert 'ended with -9' in judged(soak, [], {'server': -9})[0]
    assert 'logged' in judged(soak, [], logged='Traceback (most recent call last)')[0]
    lost = {tmp_path / 'gone.json': 3}
    assert 'was acknowledged' in judged(soak, [], saved=lost)[0]
