# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""3-D lidars: points lie where rays meet the triangles of trimesh, for who names them only."""

from __future__ import annotations

import math

from bundled_server import port_of
from bundled_server import running_server
import numpy as np
import pytest
import trimesh

from urlab_ros_bridge.client.state.stream import StateStream
from urlab_ros_bridge.geometry import matrix_of

ROOM = """
<mujoco>
  <worldbody>
    <geom name="box" type="box" size="0.5 0.4 0.3" pos="2 0.5 0.3" euler="0 0 30" rgba="1 1 1 1"/>
    <geom type="box" size="0.1 4 2" pos="4 0 2" rgba="0 0 0 1"/>
    <geom type="box" size="4 0.1 2" pos="0 -3 2" group="3" rgba="1 1 1 0"/>
    <geom type="box" size="4 4 0.1" pos="0 0 -0.1" rgba="0.2 0.2 0.2 1"/>
    <geom type="box" size="0.1 0.1 2" pos="1 0 2" contype="0" conaffinity="0"/>
  </worldbody>
</mujoco>
"""


CART = """
<mujoco>
  <worldbody><body name="base_link" pos="0 0 0.2">
    <freejoint/><geom type="box" size="0.3 0.2 0.1"/>
    <body pos="0 0 0.6"><joint axis="0 1 0"/><geom type="box" size="0.5 0.5 0.01"/></body>
  </body></worldbody>
</mujoco>
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
"""


TOPIC = 'points/cart/ouster'


@pytest.fixture
def world(tmp_path):
    for name, text in (('room.xml', ROOM), ('cart.xml', CART), ('room.yaml', SIDECAR)):
        (tmp_path / name).write_text(text)
    return tmp_path / 'room.yaml'


def solid_triangles():
    """Return the triangles of the room that collide, shape (n, 3, 3)."""
    turn = trimesh.transformations.rotation_matrix(math.radians(30), (0, 0, 1))
    turn[:3, 3] = 2, 0.5, 0.3
    meshes = [trimesh.creation.box((1.0, 0.8, 0.6), turn)]
    for size, place in (
        ((0.2, 8, 4), (4, 0, 2)), ((8, 0.2, 4), (0, -3, 2)), ((8, 8, 0.2), (0, 0, -0.1)),
    ):  # fmt: skip
        meshes.append(
            trimesh.creation.box(size, trimesh.transformations.translation_matrix(place))
        )
    return np.concatenate([mesh.triangles for mesh in meshes])


def distance(origin, direction, triangles):
    """Return how far a ray runs (Moeller and Trumbore), -1 if it meets nothing within 6 m."""
    corner, one, two = (
        triangles[:, 0],
        triangles[:, 1] - triangles[:, 0],
        triangles[:, 2] - triangles[:, 0],
    )
    across = np.cross(direction, two)
    with np.errstate(divide='ignore', invalid='ignore'):
        scale = 1.0 / np.einsum('ij,ij->i', one, across)
        offset = origin - corner
        u = scale * np.einsum('ij,ij->i', offset, across)
        turned = np.cross(offset, one)
        v = scale * (turned @ direction)
        along = scale * np.einsum('ij,ij->i', two, turned)
    met = along[(u >= 0) & (v >= 0) & (u + v <= 1) & (along > 0) & (along <= 6.0)]
    return met.min() if len(met) else -1.0


def made_by(rig, path):
    return rig(mode='direct', model=path).simulation


def test_every_point_is_where_its_ray_meets_the_first_triangle(rig, world):
    simulation = made_by(rig, world)
    engine = simulation.engine
    (lidar,) = engine.sensing.point_lidars['cart']
    ranges, intensities = lidar.cast(engine.world.data)
    triangles = solid_triangles()
    quat = np.array((0.05, 0.1, 0.02, 0.99))
    rotation = matrix_of(quat / np.linalg.norm(quat))
    origin = np.array((0.1, 0.0, 0.5))
    for ring, elevation in enumerate(np.linspace(-0.5, 0.4, 12)):
        for column, azimuth in enumerate(np.linspace(-3.1, 3.1, 90)):
            local = (
                math.cos(elevation) * math.cos(azimuth),
                math.cos(elevation) * math.sin(azimuth),
                math.sin(elevation),
            )
            wanted = distance(origin, rotation @ local, triangles)
            assert ranges[ring, column] == pytest.approx(wanted, abs=1e-6), (ring, column)
    assert 0.3 < (ranges >= 0).mean() < 0.95
    # The black wall reflects nothing, white ones do.
    assert intensities.max() > 200 and not intensities[ranges < 0].any()
    ahead = intensities[ranges > 3.5]
    assert (ahead == 0).any()


def test_a_stream_of_everything_does_not_ask_for_points(world):
    with running_server(model=world, cameras='off') as server:
        port = port_of(server, 'state')
        with StateStream('127.0.0.1', port, ('',), backlog=None) as stream:
            seen = [stream.receive(5.0) for _ in range(200)]
            assert not any(tick.points for tick in seen)
            stream.subscribe(TOPIC)
            while not (tick := stream.receive(5.0)).points:
                pass
            assert tick.grouped().articulations['cart'].points['ouster'].ranges.shape == (12, 90)


def test_noise_disturbs_ranges_and_drops_points(rig, world):
    text = world.read_text() + '    noise: {ouster: {stddev: 0.05, dropout: 0.25}}\n'
    world.write_text(text)
    simulation = made_by(rig, world)
    data = simulation.engine.world.data
    (lidar,) = simulation.engine.sensing.point_lidars['cart']
    noisy, intensities = lidar.cast(data)
    lidar.noise = None
    true, _ = lidar.cast(data)
    lost = (true >= 0) & (noisy < 0)
    assert lost.sum() / (true >= 0).sum() == pytest.approx(0.25, abs=0.06)
    assert not intensities[lost].any()
    kept = (true >= 0) & (noisy >= 0)
    assert (noisy - true)[kept].std() == pytest.approx(0.05, rel=0.15)
