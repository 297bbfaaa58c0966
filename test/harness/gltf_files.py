# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Files of glTF, and the rule that a rewritten one refers to nothing outside."""

import base64
import copy
import io
import json
import struct

from glb_reader import Glb
import numpy as np
from PIL import Image

from urlab_ros_bridge.gateways.virtual_field.protocol import foreign_gltf

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


def must_stand_alone(data):
    """Check a file by the bytes that any parser could find in it."""
    found = Glb(data)  # one JSON chunk, one binary chunk, whole
    assert URL.encode() not in data and b'uri' not in json.dumps(found.tree).encode()
    assert found.tree.keys() <= {'asset', 'scene', 'extensionsUsed', *foreign_gltf._GROUPS}
    assert len(found.binary) >= sum(b['byteLength'] for b in found.tree.get('buffers', ()))
