# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import signal
import subprocess
import sys

from lifelines import ends
from lifelines import has_ended

from urlab_ros_bridge import lifeline

LIFELINE = lifeline.__file__
PARENT = f"""
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, '-I', '-S', {str(LIFELINE)!r}, str(os.getpid()),
                          sys.executable, '-S', '-c', 'import time; time.sleep(60)'])
time.sleep(0.2)
print(child.pid, flush=True)
time.sleep(60)
"""


def test_a_child_dies_with_a_parent_that_was_killed():
    parent = subprocess.Popen([sys.executable, '-S', '-c', PARENT], stdout=subprocess.PIPE)
    child = int(parent.stdout.readline())
    assert not has_ended(child)
    parent.kill()
    parent.wait()
    assert ends(child)
    parent.stdout.close()


def test_an_interrupt_is_held_back_until_the_program_wants_it():
    code = (
        'import signal, time\nprint("started", flush=True)\ntime.sleep(0.5)\n'
        'print("still here", flush=True)\n'
        'from urlab_ros_bridge.cli.signals import end_at_once\nend_at_once()\ntime.sleep(60)'
    )
    words = lifeline.tied([sys.executable, '-c', code], hold_interrupt=True)
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == 'started\n'
    process.send_signal(signal.SIGINT)
    said, complaint = process.communicate(timeout=20)
    assert said == 'still here\n' and complaint == ''
    assert process.returncode == -signal.SIGINT
