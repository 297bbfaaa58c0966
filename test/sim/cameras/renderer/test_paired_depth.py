# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Depth that is read from a colour image equals depth that is drawn, bit for bit."""

import json
import os
from pathlib import Path
import sys

from camera_lab import needs_gl
from lifelines import run_process
import pytest

from urlab_ros_bridge.sim.cameras.renderer import environment

pytestmark = needs_gl
PROGRAM = Path(__file__).with_name('paired_depth_check.py')


@pytest.fixture(scope='module')
def report(tmp_path_factory):
    backend = next(name for name in environment.BACKENDS if not environment.missing_library(name))
    done = run_process(
        [sys.executable, str(PROGRAM), str(tmp_path_factory.mktemp('worlds'))],
        env={**os.environ, **environment.platform_variables(backend)},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_image_equals_the_one_drawn_alone(report):
    wrong = [
        (world, camera)
        for group in ('bundled', 'scenes')
        for world, cameras in report[group].items()
        for camera, (_, _, equal) in cameras.items()
        if not equal
    ]
    assert wrong == []


def test_rgbd_cameras_of_the_bundled_worlds_are_drawn_once(report):
    for world, depth in (('rover', 'front_depth'), ('bimanual', 'head_depth')):
        assert report['bundled'][world][depth][1], world


@pytest.mark.parametrize(
    ('scene', 'once'),
    [
        ('sky', True),
        ('no sky', True),
        ('no sky, endless floor', False),
        ('no sky, something far away', True),
        ('sky, endless floor', False),
        ('sky, something far away', False),
        ('transparent', False),
        ('another lens', False),
    ],
)
def test_one_drawing_serves_colour_and_depth_only_where_they_agree(report, scene, once):
    assert report['scenes'][scene]['range'][1] == once
