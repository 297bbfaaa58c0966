# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which rooms work where ROS or MuJoCo is not installed; import-linter holds the arrows."""

from pathlib import Path
import sys

from lifelines import run_process

ROOT = Path(__file__).resolve().parents[2]
ROS = (
    'rclpy', 'launch', 'launch_ros', 'builtin_interfaces', 'geometry_msgs', 'sensor_msgs',
    'tf2_msgs', 'urlab_msgs',
)  # fmt: skip

# Imported by launch files and by nothing else; generators of pages, some of which need ROS.
LAUNCH_ONLY = 'urlab_ros_bridge.cli.processes.launch_actions'
DOCS = 'urlab_ros_bridge.cli.docs.'

# Import every module of some rooms with some packages made impossible to import.
IMPORT_ALL = """
import importlib, pkgutil, sys
skipped, rooms, *absent = sys.argv[1:]
sys.modules.update(dict.fromkeys(absent))
for room in rooms.split(','):
    package = importlib.import_module(f'urlab_ros_bridge.{room}')
    for module in pkgutil.walk_packages(package.__path__, f'{package.__name__}.'):
        if not module.name.startswith(tuple(skipped.split(','))):
            importlib.import_module(module.name)
"""


def import_rooms(rooms: str, *absent: str) -> None:
    command = [sys.executable, '-c', IMPORT_ALL, f'{LAUNCH_ONLY},{DOCS}', rooms, *absent]
    done = run_process(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_packages_import_without_ros_and_mujoco():
    import_rooms('wire,files,client,gateways,conformance,cli', 'mujoco', *ROS)


def test_the_server_runs_without_ros():
    import_rooms('sim', *ROS)
