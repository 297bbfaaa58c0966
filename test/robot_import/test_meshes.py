# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import codecs
import os

import numpy as np
import pytest
import trimesh

from urlab_ros_bridge.robot_import import meshes
from urlab_ros_bridge.robot_import.meshes import MeshCache
from urlab_ros_bridge.robot_import.meshes import UnreadableMesh
from urlab_ros_bridge.wire.errors import UrlabError

RED, GREEN = (1.0, 0.0, 0.0, 1.0), (0.0, 1.0, 0.0, 1.0)


def sizes(parts):
    """Return the extents of parts by colour."""
    return {part.color: np.ptp(trimesh.load_mesh(part.path).vertices, axis=0) for part in parts}


@pytest.mark.parametrize(
    ('up', 'size', 'meter'),
    [('Z_UP', (1, 2, 3), 1.0), ('Y_UP', (1, 3, 2), 0.001), ('X_UP', (2, 3, 1), 1.0)],
)
def test_collada_is_in_metres_and_by_colour_and_turned_if_wanted(
    collada, tmp_path, up, size, meter
):
    collada(tmp_path / 'box.dae', up, meter)
    for axis, expected in (('raw', (1, 2, 3)), ('file', size), ('raw', (1, 2, 3))):
        found = sizes(MeshCache(tmp_path / 'cache', up_axis=axis).parts(tmp_path / 'box.dae'))
        assert set(found) == {RED, GREEN}
        np.testing.assert_allclose(found[RED], np.array(expected) * meter, rtol=1e-6)


@pytest.mark.parametrize('ending', ['stl', 'stl_ascii', 'obj', 'glb'])
def test_formats_keep_the_shape(tmp_path, ending):
    path = tmp_path / f'part.{ending.partition("_")[0]}'
    trimesh.creation.box((0.1, 0.2, 0.3)).export(path, file_type=ending)
    (part,) = MeshCache(tmp_path / 'cache').parts(path)
    np.testing.assert_allclose(*sizes([part]).values(), (0.1, 0.2, 0.3), rtol=1e-6)


@pytest.mark.parametrize('mark', [b'', codecs.BOM_UTF8])
@pytest.mark.parametrize(
    ('ending', 'word'),
    [('obj', b'o'), ('stl_ascii', b'solid'), ('off', b'#'), ('ply', b'comment')],
)
def test_texts_in_a_mesh_may_have_any_encoding(tmp_path, ending, word, mark):
    path = tmp_path / f'part.{ending.partition("_")[0]}'
    content = trimesh.creation.box((0.1, 0.2, 0.3)).export(file_type=ending)
    content = content.encode() if isinstance(content, str) else content
    note = word + ' größe'.encode('latin-1')
    if ending == 'stl_ascii':
        content = content.replace(word, note, 1)
    else:
        first, _, rest = content.partition(b'\n')
        content = b'\n'.join([first, note, rest])
    path.write_bytes(content if ending == 'ply' else mark + content)
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


def write_obj(folder, color):
    folder.mkdir(exist_ok=True)
    (folder / 'part.mtl').write_text(f'newmtl grün\nKd {color}\n', encoding='latin-1')
    lines = ['mtllib part.mtl', 'usemtl grün', 'v 0 0 0', 'v 1 0 0', 'v 0 1 0', 'v 0 0 1']
    faces = ['f 1 3 2', 'f 1 2 4', 'f 1 4 3', 'f 2 3 4']
    (folder / 'part.obj').write_text('\n'.join([*lines, *faces]), encoding='latin-1')
    return folder / 'part.obj'


def test_the_files_that_a_mesh_names_count_as_its_content(tmp_path):
    cache = MeshCache(tmp_path / 'cache')
    red, green = write_obj(tmp_path / 'a', '1 0 0'), write_obj(tmp_path / 'b', '0 1 0')
    assert [part.color for path in (red, green) for part in cache.parts(path)] == [RED, GREEN]
    write_obj(tmp_path / 'a', '0 1 0')
    assert cache.parts(red) == cache.parts(green)
    (tmp_path / 'b' / 'part.mtl').unlink()
    assert GREEN not in sizes(cache.parts(green))

    path, scene = tmp_path / 'part.gltf', trimesh.Scene()
    for size in (0.1, 0.2):
        scene = trimesh.Scene(trimesh.creation.box((size, size, size)))
        for name, content in trimesh.exchange.gltf.export_gltf(scene).items():
            (path if name.endswith('.gltf') else tmp_path / name).write_bytes(content)
        if size == 0.1:
            main = path.read_bytes()
        path.write_bytes(main)
        np.testing.assert_allclose(*sizes(cache.parts(path)).values(), [size] * 3, rtol=1e-6)


@pytest.mark.parametrize('name', ['pipe.stl', 'folder.stl', 'none.stl', 'a\0b.stl', 'x' * 300])
def test_only_regular_files_are_meshes(tmp_path, name):
    os.mkfifo(tmp_path / 'pipe.stl')
    (tmp_path / 'folder.stl').mkdir()
    with pytest.raises(UnreadableMesh) as caught:
        MeshCache(tmp_path / 'cache').parts(tmp_path / name)
    assert isinstance(caught.value, UrlabError)


def test_what_a_killed_import_left_in_the_cache_goes_with_the_next(collada, tmp_path):
    (tmp_path / 'cache' / '.abandoned').mkdir(parents=True)
    collada(tmp_path / 'box.dae')
    MeshCache(tmp_path / 'cache').parts(tmp_path / 'box.dae')
    (folder,) = (tmp_path / 'cache').iterdir()
    assert folder.name.startswith('box_')


def test_a_flat_mesh_has_a_solid_and_a_line_has_no_parts(tmp_path):
    cache = MeshCache(tmp_path / 'cache')
    square = np.array([[(0, 0, 0), (2, 0, 0), (2, 1, 0)], [(0, 0, 0), (2, 1, 0), (0, 1, 0)]])
    turn = trimesh.transformations.rotation_matrix(0.5, (1, 2, 3))
    for triangles in (square, square[:1]):
        mesh = trimesh.Trimesh(**trimesh.triangles.to_kwargs(triangles)).apply_transform(turn)
        mesh.export(tmp_path / 'flat.stl')
        (part,) = cache.parts(tmp_path / 'flat.stl')
        assert part.is_flat and trimesh.load_mesh(part.solid).convex_hull.volume > 1e-3
        hull = trimesh.load_mesh(part.solid).apply_transform(np.linalg.inv(turn)).bounds
        np.testing.assert_allclose(
            hull, mesh.apply_transform(np.linalg.inv(turn)).bounds, atol=0.02
        )
    line = trimesh.Trimesh([(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1, 2)], process=False)
    line.export(tmp_path / 'line.stl')
    assert not cache.parts(tmp_path / 'line.stl')


def test_a_large_mesh_is_split_into_parts_that_are_surfaces(tmp_path, monkeypatch):
    monkeypatch.setattr(meshes, '_MAX_TRIANGLES', 1000)
    triangles = trimesh.creation.icosphere(4).triangles[:1001]
    path = tmp_path / 'large.stl'
    trimesh.Trimesh(**trimesh.triangles.to_kwargs(triangles)).export(path)
    parts = MeshCache(tmp_path / 'cache').parts(path)
    counts = [len(trimesh.load_mesh(part.path).faces) for part in parts]
    assert sorted(counts) == [500, 501]
