# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
glTF 2.0 of publishers: read strictly, and rewritten from the parts that were understood.

A viewer fetches every URL that its parser finds in a file, and no two parsers find the same in a
malformed one.  So no byte of structure passes through: what is written has one JSON chunk and one
binary chunk, no `uri` at all, and only fields that are listed here.  Geometry, node trees and
materials with PNG or JPEG textures are kept; animations, skins, morph targets and cameras are not.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from collections.abc import Sequence
import struct
from typing import Any

import numpy as np
import orjson

from urlab_ros_bridge.gateways.virtual_field.errors import BadMessage
from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import shown
from urlab_ros_bridge.gateways.virtual_field.protocol.fields import PayloadFields

GLB, GLTF = 'model/gltf-binary', 'model/gltf+json'
MAX_MESH_BYTES = 3 << 20
# Of what is written: integers become float32, and several views may show the same bytes.
MAX_OUT = 2 * MAX_MESH_BYTES
# Of one kind in a file; nodes may be nested this deep.
MAX_ITEMS, MAX_DEPTH = 4096, 100

_HEADER, _CHUNK = struct.Struct('<4sII'), struct.Struct('<I4s')
_JSON, _BIN = b'JSON', b'BIN\0'
_GROUPS = (
    'accessors', 'bufferViews', 'buffers', 'images', 'materials', 'meshes', 'nodes', 'samplers',
    'scenes', 'textures',
)  # fmt: skip
_EXTENSIONS = ('KHR_materials_unlit',)
_TYPES = {5120: '<i1', 5121: '<u1', 5122: '<i2', 5123: '<u2', 5125: '<u4', 5126: '<f4'}
_COMPONENTS, _INDICES = (5120, 5121, 5122, 5123, 5126), (5121, 5123, 5125)
_WIDTHS = {'SCALAR': 1, 'VEC2': 2, 'VEC3': 3, 'VEC4': 4}
_ATTRIBUTES = {
    'POSITION': ('VEC3',), 'NORMAL': ('VEC3',), 'TANGENT': ('VEC4',), 'TEXCOORD_0': ('VEC2',),
    'TEXCOORD_1': ('VEC2',), 'COLOR_0': ('VEC3', 'VEC4'),
}  # fmt: skip
_WRAPS = (33071, 33648, 10497)
_SAMPLER = {
    'magFilter': (9728, 9729), 'minFilter': (9728, 9729, 9984, 9985, 9986, 9987),
    'wrapS': _WRAPS, 'wrapT': _WRAPS,
}  # fmt: skip
_FACTORS = {'baseColorFactor': 4, 'metallicFactor': 0, 'roughnessFactor': 0}
_PICTURES = {b'\x89PNG\r\n\x1a\n': 'image/png', b'\xff\xd8\xff': 'image/jpeg'}


def rewrite_gltf(data: bytes, kind: str) -> bytes:
    """
    Return glTF 2.0 as a binary file that stands alone, whatever reads it.

    :param kind: MIME type of `data`, `GLB` or `GLTF`.
    :raises BadMessage: for what is not glTF 2.0, names other files, or is too large.
    """
    if len(data) > MAX_MESH_BYTES:
        raise BadMessage(f'mesh_data_b64 has {len(data)} bytes, more than {MAX_MESH_BYTES}')
    if kind not in (GLB, GLTF):
        raise BadMessage(f'mime_type {shown(kind)} is unknown; valid: {GLB}, {GLTF}')
    text, binary = _chunks(data) if kind == GLB else (data, b'')
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise BadMessage(f'mesh_data_b64 is not glTF: {error}') from None
    asset = document.get('asset') if isinstance(document, dict) else None
    version = asset.get('version') if isinstance(asset, dict) else None
    if not isinstance(version, str) or not version.startswith('2.'):
        raise BadMessage(f'mesh_data_b64 is not glTF 2.0: its version is {shown(version)}')
    return _Rewriter(PayloadFields(document), binary).write()


def _chunks(data: bytes) -> tuple[bytes, bytes]:
    """Return the JSON and the binary chunk of a GLB file; unknown chunks are skipped."""
    if len(data) < _HEADER.size + _CHUNK.size:
        raise BadMessage('mesh_data_b64 is not binary glTF: it is too short')
    if _HEADER.unpack_from(data) != (b'glTF', 2, len(data)):
        raise BadMessage('mesh_data_b64 is not binary glTF: its header is wrong')
    found: dict[bytes, bytes] = {}
    at = _HEADER.size
    while at < len(data):
        size, kind = _CHUNK.unpack_from(data, at) if len(data) - at >= _CHUNK.size else (-1, b'')
        at += _CHUNK.size
        if not 0 <= size <= len(data) - at:
            raise BadMessage('mesh_data_b64 is not binary glTF: it is cut off')
        if kind in found or (not found and kind != _JSON):
            raise BadMessage(
                f'mesh_data_b64 is not binary glTF: {shown(kind)} at {at} is not where it belongs'
            )
        found[kind] = data[at : at + size]
        at += size
    return found[_JSON], found.get(_BIN, b'')


class _Rewriter:
    """One file while it is read and written."""

    def __init__(self, document: PayloadFields, binary: bytes) -> None:
        self._document = document
        self._groups = {name: _items(document, name) for name in _GROUPS}
        self._binary = binary
        self._buffers = [self._buffer(n, item) for n, item in enumerate(self._groups['buffers'])]
        self._out = bytearray()
        self._views: list[dict[str, int]] = []
        self._accessors: list[dict[str, Any]] = []
        self._written: dict[tuple[int, bool], int] = {}  # accessors, and whether with bounds

    def write(self) -> bytes:
        """Return the file."""
        required = self._document.values.get('extensionsRequired', [])
        for name in required if isinstance(required, list) else [required]:
            if name not in _EXTENSIONS:
                raise BadMessage(
                    f'the glTF requires {shown(name)}; valid extensions: {", ".join(_EXTENSIONS)}'
                )
        writers: dict[str, Callable[[PayloadFields], dict[str, Any]]] = {
            'scenes': lambda scene: {'nodes': self._indices(scene, 'nodes', 'nodes')},
            'nodes': self._node,
            'meshes': self._mesh,
            'materials': self._material,
            'textures': self._texture,
            'samplers': self._sampler,
            'images': self._image,
        }
        tree: dict[str, Any] = {'asset': {'version': '2.0'}}
        for name, write in writers.items():
            items = [write(item) for item in self._groups[name]]
            if items:
                tree[name] = items
        _check_tree(tree.get('nodes', []))
        if 'scene' in self._document:
            tree['scene'] = self._index(self._document, 'scene', 'scenes')
        if any('extensions' in material for material in tree.get('materials', ())):
            tree['extensionsUsed'] = list(_EXTENSIONS)
        if self._views:
            tree |= {
                'buffers': [{'byteLength': len(self._out)}],
                'bufferViews': self._views,
            }
        if self._accessors:
            tree['accessors'] = self._accessors
        text = orjson.dumps(tree)
        chunks = _chunk(_JSON, text, b' ')
        if self._out:
            chunks += _chunk(_BIN, bytes(self._out), b'\0')
        return _HEADER.pack(b'glTF', 2, _HEADER.size + len(chunks)) + chunks

    def _buffer(self, number: int, buffer: PayloadFields) -> bytes:
        if 'uri' in buffer:
            data = _data_of(buffer, 'uri')
        elif number == 0:
            data = self._binary
        else:
            raise BadMessage(f'{buffer.where("uri")} is missing')
        size = _whole(buffer, 'byteLength', 0, MAX_MESH_BYTES)
        if size > len(data):
            raise BadMessage(f'{buffer.where("byteLength")} is {size}, more than {len(data)}')
        return data[:size]

    def _view(self, number: int) -> tuple[bytes, int]:
        """Return the bytes of a view of a buffer, and its stride, 0 for none."""
        view = self._groups['bufferViews'][number]
        buffer = self._buffers[self._index(view, 'buffer', 'buffers')]
        start = _whole(view, 'byteOffset', 0, len(buffer), 0)
        size = _whole(view, 'byteLength', 1, len(buffer) - start)
        return buffer[start : start + size], _whole(view, 'byteStride', 0, 252, 0)

    def _node(self, node: PayloadFields) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if node.values.get('children'):
            found['children'] = self._indices(node, 'children', 'nodes')
        if 'mesh' in node:
            found['mesh'] = self._index(node, 'mesh', 'meshes')
        if 'matrix' in node:
            return found | {'matrix': node.vector('matrix', 16)}
        for name, size in (('translation', 3), ('scale', 3)):
            if name in node:
                found[name] = node.vector(name, size)
        if 'rotation' in node:
            found['rotation'] = node.quaternion('rotation')
        return found

    def _mesh(self, mesh: PayloadFields) -> dict[str, Any]:
        return {'primitives': [self._primitive(part) for part in _items(mesh, 'primitives')]}

    def _primitive(self, primitive: PayloadFields) -> dict[str, Any]:
        attributes = primitive.object('attributes')
        attributes.need('POSITION')
        found: dict[str, Any] = {
            'mode': _whole(primitive, 'mode', 0, 6, 4),
            'attributes': {
                name: self._vertices(attributes, name)
                for name in _ATTRIBUTES
                if name in attributes
            },
        }
        if 'indices' in primitive:
            found['indices'] = self._faces(primitive)
        if 'material' in primitive:
            found['material'] = self._index(primitive, 'material', 'materials')
        return found

    def _vertices(self, attributes: PayloadFields, name: str) -> int:
        """Write an attribute of all vertices as float32; return its accessor's new place."""
        number = self._index(attributes, name, 'accessors')
        bounded = name == 'POSITION'
        if (number, bounded) in self._written:
            return self._written[number, bounded]
        accessor = self._groups['accessors'][number]
        kind = _one_of(accessor, 'type', _ATTRIBUTES[name])
        values = self._numbers(accessor, _COMPONENTS, _WIDTHS[kind])
        if values.dtype.kind != 'f' and accessor.flag('normalized', False):
            values = np.maximum(values / np.float32(np.iinfo(values.dtype).max), np.float32(-1.0))
        values = values.astype('<f4')
        if not np.isfinite(values).all():
            raise BadMessage(f'{accessor.path} has numbers that are not finite')
        more = {'min': values.min(0).tolist(), 'max': values.max(0).tolist()} if bounded else {}
        self._written[number, bounded] = self._add_accessor(values, kind, **more)
        return self._written[number, bounded]

    def _faces(self, primitive: PayloadFields) -> int:
        """Write the indices of a primitive; return their accessor's new place."""
        number = self._index(primitive, 'indices', 'accessors')
        if (number, False) not in self._written:
            accessor = self._groups['accessors'][number]
            kind = _one_of(accessor, 'type', ('SCALAR',))
            values = self._numbers(accessor, _INDICES, 1)
            self._written[number, False] = self._add_accessor(values, kind)
        return self._written[number, False]

    def _numbers(
        self, accessor: PayloadFields, components: Sequence[int], width: int
    ) -> np.ndarray:
        """Return the numbers of an accessor, shape (count, width)."""
        if 'sparse' in accessor:
            raise BadMessage(f'{accessor.where("sparse")} is not supported')
        dtype = np.dtype(_TYPES[_one_of(accessor, 'componentType', components)])
        data, stride = self._view(self._index(accessor, 'bufferView', 'bufferViews'))
        each = dtype.itemsize * width
        stride = stride or each
        count = _whole(accessor, 'count', 1, len(data))
        start = _whole(accessor, 'byteOffset', 0, len(data), 0)
        if stride < each or start + stride * (count - 1) + each > len(data):
            raise BadMessage(f'{accessor.path} goes beyond the {len(data)} bytes of its view')
        return np.ndarray((count, width), dtype, data, start, (stride, dtype.itemsize))

    def _add_accessor(self, values: np.ndarray, kind: str, **more: Any) -> int:
        component = next(c for c, name in _TYPES.items() if np.dtype(name) == values.dtype)
        view = self._add(values.tobytes())
        self._accessors.append(
            {'bufferView': view, 'componentType': component, 'count': len(values), 'type': kind}
            | more
        )
        return len(self._accessors) - 1

    def _material(self, material: PayloadFields) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if 'pbrMetallicRoughness' in material:
            pbr = material.object('pbrMetallicRoughness')
            look = self._factors(pbr, _FACTORS)
            for name in ('baseColorTexture', 'metallicRoughnessTexture'):
                look |= self._texture_of(pbr, name)
            found['pbrMetallicRoughness'] = look
        for name in ('normalTexture', 'occlusionTexture', 'emissiveTexture'):
            found |= self._texture_of(material, name)
        found |= self._factors(material, {'emissiveFactor': 3, 'alphaCutoff': 0})
        if 'alphaMode' in material:
            found['alphaMode'] = _one_of(material, 'alphaMode', ('OPAQUE', 'MASK', 'BLEND'))
        if material.flag('doubleSided', False):
            found['doubleSided'] = True
        extensions = material.values.get('extensions')
        if isinstance(extensions, dict):
            used: dict[str, Any] = {name: {} for name in _EXTENSIONS if name in extensions}
            found |= {'extensions': used} if used else {}
        return found

    @staticmethod
    def _factors(fields: PayloadFields, sizes: dict[str, int]) -> dict[str, Any]:
        """Return numbers, size 0, and vectors, those that are there."""
        return {
            name: fields.vector(name, size) if size else fields.number(name)
            for name, size in sizes.items()
            if name in fields
        }

    def _texture_of(self, fields: PayloadFields, name: str) -> dict[str, Any]:
        if name not in fields:
            return {}
        info = fields.object(name)
        found = {'index': self._index(info, 'index', 'textures')}
        found['texCoord'] = _whole(info, 'texCoord', 0, 1, 0)
        return {name: found | self._factors(info, {'scale': 0, 'strength': 0})}

    def _texture(self, texture: PayloadFields) -> dict[str, Any]:
        found = {'source': self._index(texture, 'source', 'images')}
        if 'sampler' in texture:
            found['sampler'] = self._index(texture, 'sampler', 'samplers')
        return found

    @staticmethod
    def _sampler(sampler: PayloadFields) -> dict[str, Any]:
        return {
            name: _one_of(sampler, name, valid)
            for name, valid in _SAMPLER.items()
            if name in sampler
        }

    def _image(self, image: PayloadFields) -> dict[str, Any]:
        if 'uri' in image:
            data = _data_of(image, 'uri')
        else:
            data, _ = self._view(self._index(image, 'bufferView', 'bufferViews'))
        for magic, kind in _PICTURES.items():
            if data.startswith(magic):
                return {'bufferView': self._add(data), 'mimeType': kind}
        raise BadMessage(f'{image.path} is neither PNG nor JPEG: it begins with {data[:8]!r}')

    def _add(self, data: bytes) -> int:
        """Write bytes; return the place of their view."""
        if len(self._out) + len(data) > MAX_OUT:
            raise BadMessage(f'the glTF describes more than {MAX_OUT} bytes')
        self._out += bytes(-len(self._out) % 4)
        self._views.append({'buffer': 0, 'byteOffset': len(self._out), 'byteLength': len(data)})
        self._out += data
        return len(self._views) - 1

    def _index(self, fields: PayloadFields, name: str, group: str) -> int:
        return _whole(fields, name, 0, len(self._groups[group]) - 1)

    def _indices(self, fields: PayloadFields, name: str, group: str) -> list[int]:
        values = fields.values.get(name, [])
        if not isinstance(values, list) or len(values) > MAX_ITEMS:
            raise BadMessage(f'{fields.where(name)} must be a list of at most {MAX_ITEMS} indices')
        each = PayloadFields({str(n): value for n, value in enumerate(values)}, fields.where(name))
        return [self._index(each, str(n), group) for n in range(len(values))]


def _check_tree(nodes: Sequence[dict[str, Any]]) -> None:
    """Raise unless every node has at most one parent, and none is its own ancestor."""
    parents: dict[int, int] = {}
    for number, node in enumerate(nodes):
        for child in node.get('children', ()):
            if child in parents:
                raise BadMessage(f'nodes[{child}] has two parents')
            parents[child] = number
    for number in range(len(nodes)):
        depth, at = 0, number
        while at in parents:
            at, depth = parents[at], depth + 1
            if depth > MAX_DEPTH:
                raise BadMessage(f'nodes[{number}] is nested deeper than {MAX_DEPTH}')


def _items(fields: PayloadFields, name: str) -> list[PayloadFields]:
    """Return the objects of a list, none when it is absent."""
    values = fields.values.get(name, [])
    if not isinstance(values, list) or not all(isinstance(item, dict) for item in values):
        raise BadMessage(f'{fields.where(name)} must be a list of objects, got {shown(values)}')
    if len(values) > MAX_ITEMS:
        raise BadMessage(f'{fields.where(name)} has {len(values)} items, more than {MAX_ITEMS}')
    return [PayloadFields(item, f'{fields.where(name)}[{n}]') for n, item in enumerate(values)]


def _whole(
    fields: PayloadFields, name: str, low: int, high: int, default: int | None = None
) -> int:
    value = fields.need(name) if default is None else fields.values.get(name, default)
    if type(value) is not int or not low <= value <= high:
        raise BadMessage(f'{fields.where(name)} is {shown(value)}, not one of {low} to {high}')
    return value


def _one_of(fields: PayloadFields, name: str, valid: Sequence[Any]) -> Any:
    value = fields.need(name)
    if type(value) not in (int, str) or value not in valid:
        listed = ', '.join(map(str, valid))
        raise BadMessage(f'{fields.where(name)} is {shown(value)}; valid: {listed}')
    return value


def _data_of(fields: PayloadFields, name: str) -> bytes:
    """Return the bytes of a data URI."""
    value = fields.need(name)
    head, comma, body = value.partition(',') if isinstance(value, str) else ('', '', '')
    if not (comma and head.startswith('data:') and head.endswith(';base64')):
        raise BadMessage(f'{fields.where(name)} is external ({shown(value)}): embed it')
    try:
        return base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadMessage(f'{fields.where(name)}: {error}') from None


def _chunk(kind: bytes, data: bytes, padding: bytes) -> bytes:
    data += padding * (-len(data) % 4)
    return _CHUNK.pack(len(data), kind) + data


__all__ = ['GLB', 'GLTF', 'MAX_MESH_BYTES', 'rewrite_gltf']
