# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Untrusted glTF: the rewritten file shows the same and refers to nothing outside."""

import base64
import contextlib
import copy
import io
import json
import struct

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from PIL import Image
import pytest
import trimesh

from test.gateways.virtual_field.gltf.glb_reader import Glb
from urlab_ros_bridge.gateways.virtual_field.errors import BadMessage
from urlab_ros_bridge.gateways.virtual_field.protocol import foreign_gltf
from urlab_ros_bridge.gateways.virtual_field.protocol.foreign_gltf import GLB
from urlab_ros_bridge.gateways.virtual_field.protocol.foreign_gltf import GLTF
from urlab_ros_bridge.gateways.virtual_field.protocol.foreign_gltf import rewrite_gltf

URL = 'http://198.51.100.7/spy'
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]], '<f4')
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], '<u2')


def png():
    out = io.BytesIO()
    Image.new('RGB', (2, 2), (200, 30, 30)).save(out, 'PNG')
    return out.getvalue()


def textured():
    """Return a document with a bit of everything, and its bytes."""
    parts = [CORNERS.tobytes(), FACES.tobytes(), np.zeros((4, 2), '<f4').tobytes(), png()]
    binary, views = b'', []
    for part in parts:
        views.append({'buffer': 0, 'byteOffset': len(binary), 'byteLength': len(part)})
        binary += part + bytes(-len(part) % 4)
    document = {
        'asset': {'version': '2.0'},
        'scene': 0,
        'scenes': [{'nodes': [0]}],
        'nodes': [
            {'children': [1], 'translation': [0.0, 1.0, 0.0]},
            {'mesh': 0, 'scale': [2, 2, 2], 'rotation': [0, 0, 0, 1]},
        ],
        'meshes': [{'primitives': [
            {'attributes': {'POSITION': 0, 'TEXCOORD_0': 2}, 'indices': 1, 'material': 0},
        ]}],
        'materials': [{
            'pbrMetallicRoughness': {'baseColorTexture': {'index': 0}, 'metallicFactor': 0.5},
            'alphaMode': 'MASK', 'alphaCutoff': 0.3, 'doubleSided': True,
            'extensions': {'KHR_materials_unlit': {}},
        }],
        'textures': [{'source': 0, 'sampler': 0}],
        'samplers': [{'magFilter': 9729, 'wrapS': 10497}],
        'images': [{'bufferView': 3, 'mimeType': 'image/png'}],
        'accessors': [
            {'bufferView': 0, 'componentType': 5126, 'count': 4, 'type': 'VEC3'},
            {'bufferView': 1, 'componentType': 5123, 'count': 12, 'type': 'SCALAR'},
            {'bufferView': 2, 'componentType': 5126, 'count': 4, 'type': 'VEC2'},
        ],
        'bufferViews': views,
        'buffers': [{'byteLength': len(binary)}],
    }  # fmt: skip
    return document, binary


def chunk(kind, data):
    data += (b' ' if kind == b'JSON' else b'\0') * (-len(data) % 4)
    return struct.pack('<I4s', len(data), kind) + data


def packed(*chunks):
    body = b''.join(chunks)
    return struct.pack('<4sII', b'glTF', 2, 12 + len(body)) + body


def glb(document, binary):
    return packed(chunk(b'JSON', json.dumps(document).encode()), chunk(b'BIN\0', binary))


def embedded(document, binary):
    document = copy.deepcopy(document)
    uri = f'data:application/octet-stream;base64,{base64.b64encode(binary).decode()}'
    document['buffers'][0]['uri'] = uri
    return json.dumps(document).encode()


def places(value, path=()):
    """Yield the path of every value within a document."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


PLACES = [path for path in places(textured()[0]) if path]
HOSTILE = st.sampled_from(
    [
        URL, {'uri': URL}, [{'uri': URL}], {'0': {'uri': URL}, 'length': 1}, {'uri': [URL]}, [],
        {'uri': f' {URL}'}, {'uri': f'data:,{URL}'}, {'uri': 'data:;base64,!', 'url': URL}, -1, 0,
        1, 1e300, 10**30, True, None, 'x' * 99, [0, 0], {},
    ]
)  # fmt: skip


def changed(document, path, how, value):
    at = document
    for key in path[:-1]:
        at = at[key]
    old = at[path[-1]]
    if how == 'replace':
        at[path[-1]] = value
    elif how == 'as object' and isinstance(old, list):
        at[path[-1]] = {str(n): item for n, item in enumerate(old)} | {'length': len(old)}
    elif isinstance(old, dict):
        old['uri'] = old['extensions'] = value
    elif isinstance(old, list):
        old.append(value)


def must_stand_alone(data):
    """Check a file by the bytes that any parser could find in it."""
    found = Glb(data)  # one JSON chunk, one binary chunk, whole
    assert URL.encode() not in data and b'uri' not in json.dumps(found.tree).encode()
    assert found.tree.keys() <= {'asset', 'scene', 'extensionsUsed', *foreign_gltf._GROUPS}
    assert len(found.binary) >= sum(b['byteLength'] for b in found.tree.get('buffers', ()))


@pytest.mark.parametrize(('pack', 'kind'), [(glb, GLB), (embedded, GLTF)])
def test_a_rewritten_file_looks_the_same_to_other_parsers(pack, kind):
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


@given(
    st.lists(
        st.tuples(
            st.sampled_from(PLACES), st.sampled_from(['replace', 'add', 'as object']), HOSTILE
        ),
        min_size=1,
        max_size=4,
    ),
    st.booleans(),
)
def test_a_changed_document_is_refused_or_stands_alone(changes, as_json):
    document, binary = textured()
    for path, how, value in changes:
        try:
            changed(document, path, how, value)
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change has taken it away
    try:
        data = embedded(document, binary) if as_json else glb(document, binary)
    except (KeyError, TypeError, IndexError, ValueError):
        return
    with contextlib.suppress(BadMessage):
        must_stand_alone(rewrite_gltf(data, GLTF if as_json else GLB))


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
