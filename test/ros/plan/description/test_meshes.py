# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Mesh files, read back by an independent library."""

from described import loaded
import numpy as np
import pytest

from urlab_ros_bridge.ros.plan.description.meshes import MeshFiles


def read(uri):
    import trimesh  # takes a second

    return trimesh.load(uri.removeprefix('file://'), file_type='stl')


def test_a_mesh_is_the_compiled_one(tmp_path):
    model = loaded('free')[0]
    mesh = read(MeshFiles(model, tmp_path).uri(0))
    assert mesh.is_watertight and mesh.volume == pytest.approx(0.2 * 0.3 * 0.1 / 6, rel=1e-5)
    # The compiled mesh has its origin in its centre of mass.
    assert np.allclose(mesh.center_mass, 0.0, atol=1e-6)
    assert len(mesh.faces) == 4


def test_hulls_are_those_that_mujoco_collides_with(tmp_path):
    import trimesh

    model = loaded('fetch/push.xml')[0]
    files = MeshFiles(model, tmp_path)
    with_hull = [index for index in range(model.nmesh) if model.mesh_graphadr[index] >= 0]
    assert len(with_hull) > 3
    for index in with_hull[:4]:
        hull = read(files.uri(index, hull=True))
        first, count = model.mesh_vertadr[index], model.mesh_vertnum[index]
        expected = trimesh.PointCloud(model.mesh_vert[first : first + count]).convex_hull
        assert hull.is_watertight and hull.volume == pytest.approx(expected.volume, rel=1e-4)
        assert files.uri(index) != files.uri(index, hull=True)
