# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Untrusted glTF: the rewritten file shows the same and refers to nothing outside."""

import io
import json

from glb_reader import Glb
from gltf_files import chunk
from gltf_files import CORNERS
from gltf_files import embedded
from gltf_files import FACES
from gltf_files import glb
from gltf_files import must_stand_alone
from gltf_files import packed
from gltf_files import textured
from gltf_files import URL
import numpy as np
import pytest

from urlab_ros_bridge.gateways.virtual_field.errors import BadMessage
from urlab_ros_bridge.gateways.virtual_field.protocol.foreign_gltf import GLB
from urlab_ros_bridge.gateways.virtual_field.protocol.foreign_gltf import GLTF
from urlab_ros_bridge.gateways.virtual_field.protocol.foreign_gltf import rewrite_gltf


@pytest.mark.parametrize(('pack', 'kind'), [(glb, GLB), (embedded, GLTF)])
def test_a_rewritten_file_looks_the_same_to_other_parsers(pack, kind):
    import trimesh  # here, because it takes a second that every worker would spend

    data = pack(*textured())
    written = rewrite_gltf(data, kind)
    must_stand_alone(written)
    assert rewrite_gltf(written, GLB) == written
    before = trimesh.load(io.BytesIO(data), file_type='glb' if kind == GLB else 'gltf')
    after = trimesh.load(io.BytesIO(written), file_type='glb')
    (mesh,) = after.geometry.values()
    np.testing.assert_array_equal(after.bounds, before.bounds)
    np.testing.assert_array_equal(np.sort(mesh.triangles, 0), np.sort(CORNERS[FACES], 0))
    assert mesh.visual.material.baseColorTexture.getpixel((0, 0)) == (200, 30, 30)
    assert mesh.visual.material.alphaMode == 'MASK' and mesh.visual.material.doubleSided
    assert Glb(written).tree['materials'][0]['extensions'] == {'KHR_materials_unlit': {}}


def too_much():
    """Return a document that multiplies its bytes."""
    size = 3 * 4 * 200_000
    accessor = {'bufferView': 0, 'componentType': 5126, 'count': 200_000, 'type': 'VEC3'}
    return {
        'asset': {'version': '2.0'},
        'meshes': [{'primitives': [{'attributes': {'POSITION': n}} for n in range(9)]}],
        'accessors': [accessor] * 9,
        'bufferViews': [{'buffer': 0, 'byteLength': size}],
        'buffers': [{'byteLength': size}],
    }, bytes(size)


def hidden():
    """Yield, by name, files that hide a URL from one of two parsers, or have no end."""
    document, binary = textured()
    spy = document | {'images': [{'uri': URL}]}
    first, second = (chunk(b'JSON', json.dumps(tree).encode()) for tree in (document, spy))
    end = chunk(b'BIN\0', binary)
    yield 'images', glb(spy, binary)
    yield 'second JSON chunk', packed(first, end, second)
    yield 'JSON chunk before BIN', packed(first, second, end)
    yield 'binary first', packed(end, first)
    for group in ('images', 'buffers'):
        listed = {'0': {'uri': URL, 'byteLength': len(binary)}, 'length': 1}
        yield f'{group} as object', glb(document | {group: listed}, binary)
    required = {'extensionsRequired': ['KHR_draco_mesh_compression']}
    yield 'required extension', glb(document | required, binary)
    yield 'cycle', glb(document | {'nodes': [{'children': [1]}, {'children': [0]}]}, binary)
    yield 'too much', glb(*too_much())
    for name, change in (('sparse', {'sparse': {}}), ('beyond its view', {'count': 99})):
        accessors = [document['accessors'][0] | change, *document['accessors'][1:]]
        yield f'accessor {name}', glb(document | {'accessors': accessors}, binary)
    infinite = np.full((4, 3), np.inf, '<f4').tobytes()
    yield 'not finite', glb(document, infinite + binary[len(infinite) :])
    yield 'not JSON', packed(chunk(b'JSON', b'{'), end)


HIDDEN = dict(hidden())


@pytest.mark.parametrize('name', HIDDEN)
def test_a_file_that_parsers_could_read_differently_is_refused(name):
    with pytest.raises(BadMessage):
        rewrite_gltf(HIDDEN[name], GLB)
