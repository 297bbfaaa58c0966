# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A strict reader of binary glTF."""

import json
import struct

import numpy as np

WIDTHS = {'SCALAR': 1, 'VEC2': 2, 'VEC3': 3, 'VEC4': 4, 'MAT4': 16}
TYPES = {5126: '<f4', 5123: '<u2', 5125: '<u4'}


class Glb:
    def __init__(self, data):
        magic, version, length = struct.unpack_from('<4sII', data)
        assert (magic, version, length) == (b'glTF', 2, len(data))
        chunks, at = {}, 12
        while at < length:
            size, kind = struct.unpack_from('<I4s', data, at)
            assert size % 4 == 0
            chunks[kind] = data[at + 8 : at + 8 + size]
            at += 8 + size
        assert at == length
        self.tree = json.loads(chunks[b'JSON'])
        self.binary = chunks.get(b'BIN\0', b'')

    @property
    def primitives(self):
        return [p for mesh in self.tree.get('meshes', []) for p in mesh['primitives']]

    def view(self, index):
        view = self.tree['bufferViews'][index]
        assert view['byteOffset'] + view['byteLength'] <= self.tree['buffers'][0]['byteLength']
        return self.binary[view['byteOffset'] :][: view['byteLength']]

    def array(self, index):
        accessor = self.tree['accessors'][index]
        width = WIDTHS[accessor['type']]
        found = np.frombuffer(self.view(accessor['bufferView']), TYPES[accessor['componentType']])
        assert len(found) == accessor['count'] * width
        found = found.reshape(-1, width) if width > 1 else found
        if 'min' in accessor:
            np.testing.assert_array_equal(found.min(0), np.array(accessor['min'], '<f4'))
            np.testing.assert_array_equal(found.max(0), np.array(accessor['max'], '<f4'))
        return found

    def surface(self, primitive):
        """Return positions, normals, faces."""
        attributes = primitive['attributes']
        positions = self.array(attributes['POSITION'])
        faces = self.array(primitive['indices']).reshape(-1, 3)
        assert faces.max() < len(positions)
        return positions, self.array(attributes['NORMAL']), faces

    def material(self, primitive):
        return self.tree['materials'][primitive['material']]

    def image(self, primitive):
        texture = self.material(primitive)['pbrMetallicRoughness']['baseColorTexture']['index']
        return self.view(
            self.tree['images'][self.tree['textures'][texture]['source']]['bufferView']
        )
