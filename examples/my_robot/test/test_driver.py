# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of the node: with the real simulation, and on ice."""

import sys

from nav_msgs.msg import Odometry
import pytest

from urlab_ros_bridge.testing import FakeRobot
from urlab_ros_bridge.testing import FakeServer
from urlab_ros_bridge.testing import Simulation

BRIDGE = {'cmd_vel_type': 'twist'}


def is_still(odometry):
    return abs(odometry.twist.twist.linear.x) < 0.02


@pytest.mark.simulation('rover', bridge=BRIDGE)
def test_it_drives_one_metre_and_stops(simulation):
    with simulation.assert_moved('rover', at_least=0.9, at_most=1.1):
        simulation.start_program(sys.executable, '-m', 'my_robot.driver')
        simulation.wait_for_message(
            Odometry, 'odom', 20.0, lambda m: m.pose.pose.position.x > 0.9 and is_still(m)
        )


def test_it_stops_on_ice_too():
    def slide(robot, time, timestep):
        robot.follow(timestep)
        robot.place[0] += 0.05 * timestep

    ice = FakeServer(FakeRobot('rover', script=slide), mode='live')
    with ice, Simulation(server=ice, bridge=BRIDGE) as simulation:
        simulation.start_program(sys.executable, '-m', 'my_robot.driver')
        simulation.wait_for_message(Odometry, 'odom', 20.0, lambda m: m.pose.pose.position.x > 1.0)
        simulation.run_for(1.0)
        assert ice.requests_of('set_twist')[-1]['linear'] == [0.0, 0.0, 0.0]
