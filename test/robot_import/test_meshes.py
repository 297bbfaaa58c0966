# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
import trimesh

from urlab_ros_bridge.robot_import.meshes import MeshCache

RED, GREEN = (1.0, 0.0, 0.0, 1.0), (0.0, 1.0, 0.0, 1.0)


def sizes(parts):
    """Return the extents of parts by colour."""
    return {part.color: np.ptp(trimesh.load_mesh(part.path).vertices, axis=0) for part in parts}


@pytest.mark.parametrize(
    ('up', 'size', 'meter'),
    [('Z_UP', (1, 2, 3), 1.0), ('Y_UP', (1, 3, 2), 0.001), ('X_UP', (2, 3, 1), 1.0)],
)
def test_collada_is_in_metres_and_z_up_by_colour(collada, tmp_path, up, size, meter):
    collada(tmp_path / 'box.dae', up, meter)
    found = sizes(MeshCache(tmp_path / 'cache').parts(tmp_path / 'box.dae'))
    assert set(found) == {RED, GREEN}
    np.testing.assert_allclose(found[RED], np.array(size) * meter, rtol=1e-6)


@pytest.mark.parametrize('ending', ['stl', 'stl_ascii', 'obj', 'glb'])
def test_formats_keep_the_shape(tmp_path, ending):
    path = tmp_path / f'part.{ending.partition("_")[0]}'
    trimesh.creation.box((0.1, 0.2, 0.3)).export(path, file_type=ending)
    (part,) = MeshCache(tmp_path / 'cache').parts(path)
    np.testing.assert_allclose(*sizes([part]).values(), (0.1, 0.2, 0.3), rtol=1e-6)


def test_a_mesh_is_converted_once_for_each_content(collada, tmp_path):
    cache, path = MeshCache(tmp_path / 'cache'), tmp_path / 'box.dae'
    collada(path)
    first = cache.parts(path)
    (tmp_path / 'other').mkdir()
    assert cache.parts(path.rename(tmp_path / 'other' / 'box.dae')) == first
    collada(path, meter=0.5)
    assert not {part.path for part in cache.parts(path)} & {part.path for part in first}
