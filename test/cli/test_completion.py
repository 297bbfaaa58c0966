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
        'COMP_LINE': line,
        'COMP_POINT': str(len(line)),
        'COMP_TYPE': '9',
    }
    words = [sys.executable, '-c', PROGRAM]
    return set(run_process(words, env=environment, capture_output=True).stdout.decode().split())


def test_values_of_an_option_are_offered():
    assert offered('urlab server --world ') == set(world_names())
