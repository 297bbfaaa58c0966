# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Stop signals are recorded, and interrupt no code."""

import os
import signal
import subprocess
import sys

from lifelines import start_process
import pytest

from urlab_ros_bridge.cli.signals import INTERRUPTED
from urlab_ros_bridge.cli.signals import restored_handlers
from urlab_ros_bridge.cli.signals import STOP_SIGNALS
from urlab_ros_bridge.cli.signals import StopRequest

STUCK = """
import os, signal, threading
from urlab_ros_bridge.cli.signals import StopRequest
request = StopRequest()
threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
request.start(threading.Event().wait)
"""


@pytest.mark.parametrize('number', STOP_SIGNALS)
def test_a_signal_is_noted_and_what_was_begun_is_done(number):
    with restored_handlers():
        request, done = StopRequest(), []
        assert not request.received
        for _ in range(2):
            os.kill(os.getpid(), number)
        request.start(lambda: done.append(1))
        assert request.received and done == [1]


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_takes_down_what_a_command_has_begun(number):
    code = (
        'import os, sys, tempfile, time\n'
        'from urlab_ros_bridge.cli.signals import unwind_on_stop\n'
        'unwind_on_stop()\n'
        'with tempfile.TemporaryDirectory() as folder:\n'
        '    print(folder, flush=True)\n'
        '    time.sleep(600)\n'
    )
    process = start_process([sys.executable, '-c', code], stdout=subprocess.PIPE, text=True)
    folder = process.stdout.readline().strip()
    process.send_signal(number)
    assert process.wait(60) == 128 + number and folder and not os.path.exists(folder)


def test_a_start_that_hangs_is_interrupted_silently():
    process = start_process(
        [sys.executable, '-c', STUCK], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert process.communicate(timeout=60)[0] == b''
    assert process.returncode == INTERRUPTED


LOADING = """
import os, signal, sys
from urlab_ros_bridge.cli import packages
from urlab_ros_bridge.cli.signals import unwind_on_stop
def load(name):
    os.kill(os.getpid(), signal.SIGINT)
    raise ImportError('initialization failed')  # what pybind11 makes of a KeyboardInterrupt
packages.import_module = load
unwind_on_stop()
packages.require('server')
"""


def test_an_interrupt_while_a_package_is_loaded_is_not_a_missing_package():
    process = start_process([sys.executable, '-c', LOADING], stderr=subprocess.PIPE)
    assert process.communicate(timeout=60)[1] == b''
    assert process.returncode == -signal.SIGINT
