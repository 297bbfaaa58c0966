# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Processes that tests start: none outlives the test run, however that ends.

Not even `kill -9` of pytest leaves a server or a bridge behind, for each is tied to this process
by the lifeline that `urlab up` uses.
"""

import os
from pathlib import Path
import subprocess
import sys

LIFELINE = Path(__file__).parents[2] / 'urlab_ros_bridge/cli/processes/lifeline.py'


def tied(command):
    """Return a command line that becomes `command`, and gets SIGTERM when this process is gone."""
    return [sys.executable, '-I', '-S', str(LIFELINE), str(os.getpid()), *map(str, command)]


def start_process(command, **options):
    """Start a program as `subprocess.Popen` does; from a thread that lives as long as it."""
    return subprocess.Popen(tied(command), **_own_group(options))


def run_process(command, **options):
    """Run a program as `subprocess.run` does."""
    return subprocess.run(tied(command), **_own_group(options))


def _own_group(options):
    """
    Return the options for a process group of its own.

    The kernel lets a stopped process go on, so that it can end, when nobody is left who could have
    continued its group.  And Ctrl-C ends tests, which then end their processes in order.
    """
    return options if options.get('start_new_session') else {'process_group': 0, **options}
