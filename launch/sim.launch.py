# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The step server with its ROS 2 bridge, and RViz when asked for.

    ros2 launch urlab_ros_bridge sim.launch.py world:=quadruped rviz:=true

`ros2 launch urlab_ros_bridge sim.launch.py --show-args` explains the arguments.  `urlab up` starts
the same processes from the same tables.
"""

from launch import Action
from launch import LaunchDescription

from urlab_ros_bridge.cli.arguments.suite import SuiteArguments
from urlab_ros_bridge.cli.processes.launch_actions import described
from urlab_ros_bridge.cli.processes.launch_actions import process_actions
from urlab_ros_bridge.cli.processes.table import PROCESSES


def start(arguments: SuiteArguments) -> list[Action]:
    """Return the processes of a simulation in ROS 2."""
    return process_actions(PROCESSES, arguments)


def generate_launch_description() -> LaunchDescription:
    """Return the arguments, and what starts the processes."""
    return described(__file__, SuiteArguments, start)
