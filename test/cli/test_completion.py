# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Completion of command lines, as a shell requests it."""

import os
import sys

from lifelines import run_process
import pytest

from urlab_ros_bridge.models import world_names

pytest.importorskip('argcomplete')
PROGRAM = 'import os, sys; os.dup2(1, 8); from urlab_ros_bridge.cli.main import main; main()'


def offered(line):
    """Return the words that `urlab` offers at the end of a line."""
    environment = {
        **os.environ,
        '_ARGCOMPLETE': '1',
        '_ARGCOMPLETE_IFS': '\n',
        '_ARGCOMPLETE_SUPPRESS_SPACE': '1',
        'COMP_LINE': line,
        'COMP_POINT': str(len(line)),
        'COMP_TYPE': '9',
    }
    done = run_process(
        [sys.executable, '-c', PROGRAM],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ('line', 'words'),
    [
        ('urlab up --wor', {'--world'}),
        ('urlab server --world ', set(world_names())),
        ('urlab server --step-mode ', {'auto', 'live', 'direct', 'puppet'}),
    ],
)
def test_options_and_values(line, words):
    assert offered(line) == words
