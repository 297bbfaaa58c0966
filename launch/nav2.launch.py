# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The simulation with Nav2: map, parameters and RViz for the bundled rover.

    ros2 launch urlab_ros_bridge nav2.launch.py
    ros2 launch urlab_ros_bridge nav2.launch.py localization:=amcl rviz:=false

`ros2 launch urlab_ros_bridge nav2.launch.py --show-args` explains the arguments.  Nav2 comes from
its own bring-up (nav2_bringup); it waits by itself for the simulation's clock and transforms.
"""

from launch import Action
from launch import LaunchDescription
from launch.actions import GroupAction
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_ros.actions import Node

from urlab_ros_bridge.cli.logs import ros_level
from urlab_ros_bridge.cli.processes.launch_actions import described
from urlab_ros_bridge.cli.processes.launch_actions import process_actions
from urlab_ros_bridge.cli.processes.nav2 import find_nav2
from urlab_ros_bridge.cli.processes.nav2 import GROUND_TRUTH
from urlab_ros_bridge.cli.processes.nav2 import INITIAL_POSE
from urlab_ros_bridge.cli.processes.nav2 import JUMP_SETTLE
from urlab_ros_bridge.cli.processes.nav2 import MAP_TO_ODOM
from urlab_ros_bridge.cli.processes.nav2 import nav2_files
from urlab_ros_bridge.cli.processes.nav2 import NAV2_PROCESSES
from urlab_ros_bridge.cli.processes.nav2 import NAV2_SETTLES
from urlab_ros_bridge.cli.processes.nav2 import Nav2Arguments
from urlab_ros_bridge.cli.processes.nav2 import PUBLISH_MAP


def map_server(map_file: str, params_file: str, arguments: Nav2Arguments) -> list[Action]:
    """Return what serves the map where Nav2 does not localise: it has no other start for it."""
    common = {'use_sim_time': arguments.use_sim_time}
    words = ['--ros-args', '--log-level', ros_level(arguments.log_level)]
    return [
        Node(
            package='nav2_map_server',
            executable='map_server',
            name='map_server',
            output='screen',
            arguments=words,
            parameters=[params_file, common | {'yaml_filename': map_file}],
        ),
        Node(
            package='nav2_lifecycle_manager',
            executable='lifecycle_manager',
            # The panel of Nav2 in RViz looks for this name.
            name='lifecycle_manager_localization',
            output='screen',
            arguments=words,
            parameters=[common | {'autostart': arguments.autostart, 'node_names': ['map_server']}],
        ),
    ]


def start(arguments: Nav2Arguments) -> list[Action]:
    """
    Return the actions that start Nav2, and those that start the simulation.

    :raises UrlabError: when Nav2, the map or the parameters are missing; nothing was started then.
    """
    launch_file = find_nav2() / 'launch' / 'bringup_launch.py'
    map_file, params_file = nav2_files(arguments)
    knows_truth = arguments.localization == GROUND_TRUTH
    bringup = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(launch_file)),
        launch_arguments={
            'namespace': '',
            'slam': 'False',
            'map': map_file,
            'params_file': params_file,
            'use_localization': str(not knows_truth),
            # Jazzy has no zones; elsewhere they need masks.
            'use_keepout_zones': 'False',
            'use_speed_zones': 'False',
            # Nav2 reads these as Python does.
            **{
                name: str(getattr(arguments, name))
                for name in ('use_sim_time', 'autostart', 'use_composition', 'use_respawn')
            },
            'log_level': arguments.log_level,
        }.items(),
    )
    served = []
    if knows_truth and map_file:
        served = map_server(map_file, params_file, arguments)
    values = {
        MAP_TO_ODOM: knows_truth,
        PUBLISH_MAP: not map_file,
        INITIAL_POSE: not knows_truth,
        JUMP_SETTLE: NAV2_SETTLES,
        'namespace': '',
    }
    simulation = process_actions(NAV2_PROCESSES, arguments, values)
    # The group keeps what Nav2 sets away from the simulation.
    return [GroupAction([*served, bringup]), *simulation]


def generate_launch_description() -> LaunchDescription:
    """Return the arguments, and what starts Nav2 and the simulation."""
    return described(__file__, Nav2Arguments, start)
