# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab up` as a program, with small programs in place of server and bridge."""

import signal
import subprocess

from lifelines import ends
from ports import free_ports
import pytest
from urlab_programs import family
from urlab_programs import program

from urlab_ros_bridge.cli.processes.table import READY_LINE

SERVER = f'import time\nprint("{READY_LINE}: x", flush=True)\ntime.sleep(60)'
BRIDGE = 'import os, time\nprint("parent", os.getppid(), flush=True)\ntime.sleep(60)'
DRIVER = f"""
import sys
from urlab_ros_bridge.cli.commands import up
from urlab_ros_bridge.cli.main import main
from urlab_ros_bridge.cli.processes.table import Process

programs = {{'server': {SERVER!r}, 'bridge': {BRIDGE!r}}}
up.PROCESSES = (Process('server', command='server'),
                Process('bridge', command='server', starts_after='server', reports_status=True))
up.command_line = lambda process, values, more=(): [
    sys.executable, '-S', '-c', programs[process.name], *more]
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_nothing_is_left_whatever_ends_it(number):
    ports = free_ports('rpc', 'state', 'camera').items()
    words = ('up', *(f'--{name}-port={port}' for name, port in ports))
    output = {'ready': 'parent', 'log': subprocess.STDOUT}
    with program(*words, before=('-c', DRIVER), **output) as (up, line):
        assert int(line.split()[-1]) == up.pid
        children = family(up.pid)[1:]
        assert len(children) == 2
        up.send_signal(number)
        assert up.wait(20) == (-number if number == signal.SIGKILL else 0)
        assert all(ends(pid) for pid in children)
        assert 'Traceback' not in up.stdout.read()
