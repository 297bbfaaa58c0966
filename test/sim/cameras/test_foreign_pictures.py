# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of models that nobody described: meshes and textures show up without a sidecar."""

import importlib.util
from pathlib import Path

from bundled_server import start_server
from camera_lab import connect
from camera_lab import needs_gl
import numpy as np
import pytest

pytestmark = needs_gl
MODELS = (
    'adroit_hand/adroit_hammer.xml',
    pytest.param('kitchen_franka/kitchen_assets/kitchen_env_model.xml', marks=pytest.mark.long),
)


def model(name):
    found = importlib.util.find_spec('gymnasium_robotics')
    if found is None:
        pytest.skip('gymnasium-robotics is not installed')
    return Path(found.submodule_search_locations[0], 'envs', 'assets', name)


@pytest.mark.parametrize('name', MODELS)
def test_every_camera_of_a_foreign_model_renders(name):
    server = start_server(model=model(name), paused=True)
    try:
        with connect(server, timeout=100.0) as client:
            cameras = client.handshake.global_cameras
            assert cameras and all(cam.resolution == (640, 480) for cam in cameras.values())
            images = client.step(20, include_cameras='sync').cameras
            assert set(images) == set(cameras)
            for image in images.values():
                gray = image.pixels[..., :3].astype(float).mean(axis=-1)
                assert gray.std() > 20  # light and dark: not an empty picture
                colors = np.unique(np.ascontiguousarray(image.pixels).view(np.uint32))
                assert len(colors) > 1000  # textures, not flat colours
    finally:
        server.stop()


def test_a_camera_that_sees_nothing_but_sky_shows_the_sky():
    """The gripper of Fetch looks past its table; the model's sky is green, (113, 219, 145)."""
    server = start_server(model=model('fetch/push.xml'), paused=True)
    try:
        with connect(server, timeout=100.0) as client:
            wanted = {'gripper_camera_rgb': 'sync', 'head_camera_rgb': 'sync'}
            images = client.step(0, include_cameras=wanted).cameras
            sky = images['gripper_camera_rgb'].pixels[..., :3]
            assert np.abs(sky.astype(int) - [145, 219, 113]).max() < 5
            assert (images['head_camera_rgb'].pixels[..., :3].max(axis=-1) > 60).mean() > 0.8
    finally:
        server.stop()
