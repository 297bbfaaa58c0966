# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The model of the small world: a floating robot with an arm, a lift and sensors."""

from pathlib import Path

XML = (Path(__file__).parent / 'worlds' / 'small.xml').read_text()  # {p} is the prefix
PREFIX = 'bot'
EXTENSIONS = (
    'shared_session',
    'sim_time_row',
    'effort_row',
    'keep_time',
    'twist_timeout',
    'step_while_paused',
    'status',
)
LIDAR = {
    'angle_min': -3.0,
    'angle_max': 3.0,
    'range_min': 0.1,
    'range_max': 9.0,
    'rate': 10.0,
    'rays': 8,
    'site': 'lidar',
}
