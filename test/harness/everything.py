# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A world that has one of everything that the bridge knows."""

from pathlib import Path
import shutil

from urlab_ros_bridge.models import world_path

WORLD = Path(__file__).parent / 'worlds' / 'everything'


def write_world(folder):
    """Write the files into a folder, and return the sidecar."""
    for file in (*WORLD.iterdir(), world_path('rover').with_name('rover_robot.xml')):
        shutil.copy(file, folder)
    return folder / 'everything.yaml'
