# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""3-D lidars: points lie where rays meet the triangles of trimesh, for who names them only."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.geometry import matrix_of

ROOM = """
<mujoco>
  <worldbody>
    <geom type="box" size="0.5 0.4 0.3" pos="2 0.5 0.3" euler="0 0 30" rgba="1 1 1 1"/>
    <geom type="box" size="0.1 4 2" pos="4 0 2" rgba="0 0 0 1"/>
    <geom type="box" size="4 0.1 2" pos="0 -3 2" group="3" rgba="1 1 1 0"/>
    <geom type="plane" size="4 4 0.1" rgba="0.2 0.2 0.2 1"/>
    DECOR</worldbody>
</mujoco>
"""
DECOR = '<geom type="box" size="0.1 0.1 2" pos="1 0 2" contype="0" conaffinity="0"/>'


CART = """
<mujoco><worldbody><body name="base_link" pos="0 0 0.2"><freejoint/>
  <geom type="box" size="0.3 0.2 0.1"/><geom type="box" size="0.5 0.5 0.01" pos="0 0 0.6"/>
</body></worldbody></mujoco>
"""


SIDECAR = """
scene: room.xml
articulations:
  - prefix: cart
    model: cart.xml
    lidars:
      ouster: {rays: 90, rings: 12, elevation_min: -0.5, elevation_max: 0.4, angle_min: -3.1,
               angle_max: 3.1, range_min: 0.2, range_max: 6.0, rate: 10,
               pose: {pos: [0.1, 0, 0.3], quat: [0.99, 0.05, 0.1, 0.02]}}
    noise: {ouster: {stddev: 0.05, dropout: 0.25}}
"""


@pytest.fixture
def world(tmp_path):
    for name, text in (
        ('room.xml', ROOM.replace('DECOR', DECOR)),
        ('cart.xml', CART),
        ('room.yaml', SIDECAR),
    ):
        (tmp_path / name).write_text(text)
    return tmp_path / 'room.yaml'


def test_every_point_is_where_mujocos_ray_ends_and_noise_disturbs_and_drops_it(rig, world):
    engine = rig(mode='direct', model=world).engine
    (lidar,) = engine.sensing.point_lidars['cart']
    noisy, _ = lidar.cast(engine.world.data)
    lidar.noise = None
    ranges, intensities = lidar.cast(engine.world.data)
    # A room without the cart and decoration, in which all can be seen.
    bare = ROOM.replace('DECOR', '').replace('rgba="1 1 1 0"', '')
    room = mujoco.MjModel.from_xml_string(bare)
    data = mujoco.MjData(room)
    mujoco.mj_forward(room, data)
    quat = np.array((0.05, 0.1, 0.02, 0.99))
    rotation = matrix_of(quat / np.linalg.norm(quat))
    for ring, elevation in enumerate(np.linspace(-0.5, 0.4, 12)):
        for column, azimuth in enumerate(np.linspace(-3.1, 3.1, 90)):
            across = math.cos(elevation)
            local = across * math.cos(azimuth), across * math.sin(azimuth), math.sin(elevation)
            origin, met = np.array((0.1, 0.0, 0.5)), np.zeros(1, np.int32)
            wanted = mujoco.mj_ray(room, data, origin, rotation @ local, None, 1, -1, met)
            wanted = wanted if wanted <= 6.0 else -1.0
            assert ranges[ring, column] == pytest.approx(wanted, abs=1e-6), (ring, column)
    hit = ranges >= 0
    assert 0.3 < hit.mean() < 0.95
    # The black wall reflects nothing, white ones do.
    assert intensities.max() > 200 and not intensities[~hit].any()
    black = (ranges > 3.5) & (intensities == 0)
    assert black.any()
    engine.world.model.geom_rgba[:, :3] = 1.0
    assert (lidar.cast(engine.world.data)[1][black] > 0).any(), 'the wall was painted'
    kept = hit & (noisy >= 0)
    assert 1 - kept.sum() / hit.sum() == pytest.approx(0.25, abs=0.06)
    assert (noisy - ranges)[kept].std() == pytest.approx(0.05, rel=0.15)
