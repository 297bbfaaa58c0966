# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The step server with its ROS 2 bridge, and RViz when asked for.

    ros2 launch urlab_ros_bridge sim.launch.py world:=quadruped rviz:=true

`ros2 launch urlab_ros_bridge sim.launch.py --show-args` explains the arguments.  `urlab up` starts
the same processes from the same tables.
"""

from launch import LaunchDescription

from urlab_ros_bridge.cli.arguments import UP_ARGUMENTS
from urlab_ros_bridge.cli.launch_actions import declare
from urlab_ros_bridge.cli.launch_actions import process_actions
from urlab_ros_bridge.cli.processes import PROCESSES


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and processes of a simulation in ROS 2."""
    return LaunchDescription([*map(declare, UP_ARGUMENTS), *process_actions(PROCESSES)])
