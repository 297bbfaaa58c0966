# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The scripts in examples/ do what the README and docs/lockstep.md say."""

import contextlib
from pathlib import Path
import signal
import subprocess
import sys

from nav_msgs.msg import Odometry
import pytest

pytestmark = pytest.mark.ros
EXAMPLES = Path(__file__).parents[2] / 'examples'


def interrupt(program):
    """
    Interrupt a node until it ends, and return its exit code.

    To be called while no messages arrive: rclpy's conversion of one that arrives with the signal
    fails.  While nothing arrives, it may miss a signal.
    """
    for _ in range(10):
        program.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return program.wait(6)
    return None


def test_the_examples_drive_and_reset_the_robot(simulation):
    def start(name):
        return simulation.start_program(
            sys.executable, '-u', EXAMPLES / name, stdout=subprocess.PIPE, text=True
        )

    driver = start('drive_and_print.py')
    with simulation.assert_moved('rover', at_least=0.3, along=(1, 0, 0)):
        # The first lines may wait for odometry, or for the commands to arrive.
        places = (line.split() for line in driver.stdout)
        assert any(words[0] == 'x' and float(words[1]) > 0.4 for words in places)
    simulation.client.set_paused(True)
    driver.stdout.readline()  # within a second, in which the last messages arrive
    assert interrupt(driver) == 0
    simulation.client.set_paused(False)
    reset = start('reset.py')
    output, _ = reset.communicate(timeout=60)
    assert reset.returncode == 0 and 'success=True' in output
    assert abs(simulation.position('rover')[0]) < 0.1


@pytest.mark.simulation(
    'rover', bridge={'cmd_vel_type': 'twist_stamped', 'lockstep_topics': ['cmd_vel']}
)
def test_the_controller_drives_in_lockstep(simulation):
    driver = simulation.start_program(sys.executable, EXAMPLES / 'lockstep_controller.py')
    simulation.wait_for_message(Odometry, 'odom', 30.0, lambda m: m.pose.pose.position.x > 1.0)
    simulation.kill('server')
    assert interrupt(driver) == 0
