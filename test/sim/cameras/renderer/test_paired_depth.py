# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Depth that is read from a colour image equals depth that is drawn, bit for bit."""

import json
import os
from pathlib import Path
import sys

from camera_lab import needs_gl
from lifelines import run_process

from urlab_ros_bridge.sim.cameras.renderer import environment

pytestmark = needs_gl
PROGRAM = Path(__file__).with_name('paired_depth_check.py')


# Which depth cameras are not drawn.
ONCE = {
    'rover': ['front_depth'],
    'bimanual': ['head_depth', 'left_wrist_depth', 'right_wrist_depth', 'scene_depth'],
    'sky': ['range'],
    'no sky, endless floor': [],
    'sky, endless floor': [],
    'sky, something far away': [],
    'transparent': [],
    'another lens': [],
}


def test_one_drawing_serves_colour_and_depth_where_both_equal_those_drawn_alone(tmp_path):
    backend = next(name for name in environment.BACKENDS if not environment.missing_library(name))
    done = run_process(
        [sys.executable, str(PROGRAM), str(tmp_path)],
        env={**os.environ, **environment.platform_variables(backend)},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert {world: wrong for world, (_, wrong) in report.items() if wrong} == {}
    assert {world: once for world, (once, _) in report.items()} == ONCE
