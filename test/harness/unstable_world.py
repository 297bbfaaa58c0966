# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A robot whose gains no timestep can follow: stable at rest, unstable after any other setpoint.

MuJoCo notices it within three steps and resets the world; the robot is at rest again.
"""

from pathlib import Path
import shutil

PREFIX = 'stiff'


def write_unstable_world(folder):
    """Return the path of the model in a folder."""
    return Path(shutil.copy(Path(__file__).parent / 'worlds' / f'{PREFIX}.xml', folder))
