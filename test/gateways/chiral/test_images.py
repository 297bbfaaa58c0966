# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Images, depth and matrices of one observation belong together: checked with ray casts."""

import time

from bundled_server import port_of
from bundled_server import running_server
import mujoco
import numpy as np
import pytest

from test.gateways.chiral.stock_client import StockClient

CAMERAS = [{'rgb': 'front_rgb'}]
NEAR = 0.01  # m: a lens, in which a camera is, is not drawn
VISIBLE = np.array([1, 1, 1, 0, 0, 0], np.uint8)  # groups that are drawn


@pytest.fixture(scope='module')
def server():
    with running_server(world='rover') as made:
        yield made


@pytest.fixture(scope='module')
def model(server):
    return server.simulation.world.model


def data_at(model, qpos):
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_forward(model, data)
    return data


def directions(camera, pixels):
    """Rays through pixels (u, v), camera frame, with z = 1."""
    return np.c_[pixels, np.ones(len(pixels))] @ np.linalg.inv(camera.intrinsics).T


def cast(model, data, camera, to_world, pixels):
    """Return true z-depths at pixels (n, 2); 0 where nothing is hit."""
    pose, geom, depths = to_world @ camera.extrinsics, np.zeros(1, np.int32), []
    for ray in directions(camera, pixels) @ pose[:3, :3].T:
        start = pose[:3, 3] + NEAR * ray  # MuJoCo's distance is in lengths of the ray
        hit = mujoco.mj_ray(model, data, start, ray, VISIBLE, 1, -1, geom, None)
        depths.append(hit + NEAR if hit >= 0 else 0.0)
    return np.array(depths)


def some_pixels(camera, count, seed, upright=False):
    """Pixels with depth; `upright` takes those above the horizon: a floor looks alike all over."""
    height, width = camera.depth.shape
    random = np.random.default_rng(seed)
    rows = np.arange(2, height // 2 - 8 if upright else height - 2)
    v, u = np.nonzero(camera.depth[rows[:, None], np.arange(2, width - 2)])
    chosen = random.integers(0, len(u), count)
    return np.stack([u[chosen] + 2, rows[v[chosen]]], axis=1).astype(float)


def share_within_a_pixel(model, data, camera, to_world, count=150, upright=False):
    """How many depths lie between the true depths of the pixel and of its neighbours."""
    pixels = some_pixels(camera, count, 0, upright)
    served = camera.depth[pixels[:, 1].astype(int), pixels[:, 0].astype(int)]
    offsets = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
    around = np.array([cast(model, data, camera, to_world, pixels + o) for o in offsets])
    slack = 2e-3 * served + 2e-3
    inside = (served >= around.min(0) - slack) & (served <= around.max(0) + slack)
    return inside.mean()


def base_matrix(values):
    matrix, rotation = np.eye(4), np.zeros(9)
    mujoco.mju_quat2Mat(rotation, np.asarray(values[3:7], float))
    matrix[:3, :3] = rotation.reshape(3, 3)
    matrix[:3, 3] = values[:3]
    return matrix


@pytest.fixture(scope='module')
def still(server, gateway):
    """Return an observation in lockstep, in the world frame, and the simulation's qpos."""
    profile = {'pace': 'lockstep', 'cameras': CAMERAS, 'reference': 'world'}
    with gateway(port_of(server), profile) as running, StockClient(running.url) as client:
        client.reset()
        for _ in range(8):
            client.act([0.4, 0.8])
        yield client.observe(), server.simulation.world.data.qpos.copy()


def test_depth_hits_the_true_geometry_and_pixel_centres_are_whole_numbers(model, still):
    """Within a pixel; half a pixel off, the true depth fits worse.  The background has none."""
    seen, qpos = still
    camera, data = seen.cameras['front_rgb'], data_at(model, qpos)
    assert share_within_a_pixel(model, data, camera, np.eye(4)) > 0.98
    pixels = some_pixels(camera, 400, 4)
    served = camera.depth[pixels[:, 1].astype(int), pixels[:, 0].astype(int)]

    def error(shift):
        true = cast(model, data, camera, np.eye(4), pixels + shift)
        return np.median(np.abs(true - served)[served > 0])

    assert all(error((0, 0)) < error(shift) / 2 for shift in ((0, 0.5), (0, -0.5)))
    assert camera.depth.dtype == np.float32 and camera.image.dtype == np.uint8
    assert np.isfinite(camera.depth).all() and camera.depth.max() < 100


@pytest.mark.parametrize('frames', ['latest', 'fresh'])
def test_observations_in_motion_are_of_one_step(model, server, gateway, frames):
    """A turning robot: images of another step than the poses would be many pixels off."""
    profile = {'cameras': CAMERAS, 'frames': frames}
    with gateway(port_of(server), profile) as running, StockClient(running.url) as client:
        start = client.reset()
        client.act([0.5, 2.0])
        time.sleep(0.6)
        times, seen = [], []
        for _ in range(3):
            times.append(server.simulation.world.data.time)
            seen.append(client.observe())
        client.act([0.0, 0.0])
    stamps = [observation.timestamp for observation in seen]
    assert stamps[-1] > start.timestamp
    if frames == 'fresh':  # none is older than its request
        assert all(stamp >= time for stamp, time in zip(stamps, times, strict=True))
    for observation in seen:
        camera = observation.cameras['front_rgb']
        assert camera.timestamp == observation.timestamp
        qpos = np.array(model.key('rover_home').qpos)
        qpos[:7] = observation.proprios['base_pose']
        qpos[7:9] = observation.proprios['joint_pos']
        data = data_at(model, qpos)
        base = base_matrix(observation.proprios['base_pose'])
        assert share_within_a_pixel(model, data, camera, base, 60, upright=True) > 0.9
        moved = base @ base_matrix([0.05, 0, 0, 1, 0, 0, 0])  # a tenth of a second of driving
        assert share_within_a_pixel(model, data, camera, moved, 60, upright=True) < 0.6
