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
from launch import LaunchContext
from launch import LaunchDescription
from launch.actions import GroupAction
from launch.actions import IncludeLaunchDescription
from launch.actions import OpaqueFunction
from launch.actions import SetLaunchConfiguration
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_ros.actions import Node

from urlab_ros_bridge.cli.arguments import TRUE_WORDS
from urlab_ros_bridge.cli.launch_actions import declare
from urlab_ros_bridge.cli.launch_actions import process_actions
from urlab_ros_bridge.cli.nav2 import find_nav2
from urlab_ros_bridge.cli.nav2 import GROUND_TRUTH
from urlab_ros_bridge.cli.nav2 import MAP_TO_ODOM
from urlab_ros_bridge.cli.nav2 import NAV2_ARGUMENTS
from urlab_ros_bridge.cli.nav2 import nav2_files
from urlab_ros_bridge.cli.nav2 import NAV2_PROCESSES


def map_server(map_file: str, params_file: str, values: dict[str, str]) -> list[Action]:
    """Return what serves the map where Nav2 localises nothing: it has no other start for it."""
    common = {'use_sim_time': _is_true(values['use_sim_time'])}
    arguments = ['--ros-args', '--log-level', values['log_level']]
    return [
        Node(
            package='nav2_map_server',
            executable='map_server',
            name='map_server',
            output='screen',
            arguments=arguments,
            parameters=[params_file, common | {'yaml_filename': map_file}],
        ),
        Node(
            package='nav2_lifecycle_manager',
            executable='lifecycle_manager',
            # The panel of Nav2 in RViz looks for this name.
            name='lifecycle_manager_localization',
            output='screen',
            arguments=arguments,
            parameters=[
                common | {'autostart': _is_true(values['autostart']), 'node_names': ['map_server']}
            ],
        ),
    ]


def nav2(context: LaunchContext) -> list[Action]:
    """
    Return the actions that start Nav2, before those that start the simulation.

    :raises UrlabError: when Nav2, the map or the parameters are missing; nothing was started then.
    """
    values = dict(context.launch_configurations)
    launch_file = find_nav2() / 'launch' / 'bringup_launch.py'
    map_file, params_file = nav2_files(values)
    knows_truth = values['localization'] == GROUND_TRUTH
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
                name: str(_is_true(values[name]))
                for name in ('use_sim_time', 'autostart', 'use_composition', 'use_respawn')
            },
            'log_level': values['log_level'],
        }.items(),
    )
    started = [*map_server(map_file, params_file, values)] if knows_truth else []
    return [
        SetLaunchConfiguration(MAP_TO_ODOM, str(knows_truth).lower()),
        SetLaunchConfiguration('namespace', ''),
        # The group keeps what Nav2 sets away from the simulation.
        GroupAction([*started, bringup]),
    ]


def _is_true(text: str) -> bool:
    return text.strip().lower() in TRUE_WORDS


def generate_launch_description() -> LaunchDescription:
    """Return the arguments, Nav2, and the processes of the simulation."""
    return LaunchDescription(
        [
            *map(declare, NAV2_ARGUMENTS),
            OpaqueFunction(function=nav2),
            *process_actions(NAV2_PROCESSES),
        ]
    )
