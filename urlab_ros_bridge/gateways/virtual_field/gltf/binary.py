# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Binary glTF 2.0 (GLB): one mesh of indexed triangles, a primitive for each material.

This is all of the format that bodies of a simulation need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import json
import struct
from typing import Any

import numpy as np

MIME_TYPE = 'model/gltf-binary'

_MAGIC, _VERSION = 0x46546C67, 2
_HEADER = struct.Struct('<3I')
_CHUNK = struct.Struct('<2I')
_JSON, _BIN = 0x4E4F534A, 0x004E4942
# Numbers of OpenGL that glTF uses.
_FLOAT, _UINT16, _UINT32 = 5126, 5123, 5125
_VERTICES, _INDICES = 34962, 34963
_LINEAR, _LINEAR_MIPMAP_LINEAR, _REPEAT = 9729, 9987, 10497
_ALIGNMENT = 4


@dataclass(frozen=True)
class Surface:
    """
    Triangles with a normal for each vertex.

    :ivar positions: shape (n, 3), m; `normals`: shape (n, 3), length one.
    :ivar faces: shape (m, 3), counter-clockwise seen from outside.
    :ivar texels: shape (n, 2), u to the right and v down in the texture; None without a texture.
    """

    positions: np.ndarray
    normals: np.ndarray
    faces: np.ndarray
    texels: np.ndarray | None = None


@dataclass(frozen=True)
class Material:
    """
    The appearance of a surface.

    :ivar color: r, g, b, a from 0 to 1, linear; multiplies the texture.
    :ivar glow: r, g, b that it emits, linear.
    :ivar texture: PNG, empty without a texture.
    """

    color: tuple[float, float, float, float]
    roughness: float = 0.7
    metallic: float = 0.0
    glow: tuple[float, float, float] = (0.0, 0.0, 0.0)
    texture: bytes = b''

    @property
    def is_transparent(self) -> bool:
        """Whether what is behind it shines through."""
        return self.color[3] < 1.0


def joined(surfaces: Sequence[Surface]) -> Surface:
    """Return several surfaces, all with or all without a texture, as one."""
    if len(surfaces) == 1:
        return surfaces[0]
    starts = np.cumsum([0, *(len(surface.positions) for surface in surfaces)])
    texels = [surface.texels for surface in surfaces if surface.texels is not None]
    return Surface(
        np.concatenate([surface.positions for surface in surfaces]),
        np.concatenate([surface.normals for surface in surfaces]),
        np.concatenate([s.faces + start for s, start in zip(surfaces, starts, strict=False)]),
        np.concatenate(texels) if texels else None,
    )


def glb(parts: Sequence[tuple[Surface, Material]], name: str = '') -> bytes:
    """
    Return a GLB file with one node; without parts the node has no mesh.

    :param name: of the node and its mesh.
    """
    return _File(name).write(parts)


class _File:
    """A file while it is written: the JSON description, and the bytes that it points into."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._bytes = bytearray()
        self._views: list[dict[str, Any]] = []
        self._accessors: list[dict[str, Any]] = []
        self._materials: list[dict[str, Any]] = []
        self._images: dict[bytes, int] = {}

    def write(self, parts: Sequence[tuple[Surface, Material]]) -> bytes:
        primitives = [self._primitive(surface, material) for surface, material in parts]
        node: dict[str, Any] = {'name': self._name}
        tree: dict[str, Any] = {
            'asset': {'version': '2.0', 'generator': 'urlab_ros_bridge'},
            'scene': 0,
            'scenes': [{'nodes': [0]}],
            'nodes': [node],
        }
        if primitives:
            node['mesh'] = 0
            tree |= {
                'meshes': [{'name': self._name, 'primitives': primitives}],
                'materials': self._materials,
                'accessors': self._accessors,
                'bufferViews': self._views,
                'buffers': [{'byteLength': len(self._bytes)}],
            }
        if self._images:
            tree |= {
                'images': [
                    {'bufferView': v, 'mimeType': 'image/png'} for v in self._images.values()
                ],
                'textures': [{'source': i, 'sampler': 0} for i in range(len(self._images))],
                'samplers': [
                    {
                        'magFilter': _LINEAR,
                        'minFilter': _LINEAR_MIPMAP_LINEAR,
                        'wrapS': _REPEAT,
                        'wrapT': _REPEAT,
                    }
                ],
            }
        text = json.dumps(tree, separators=(',', ':'), allow_nan=False).encode()
        chunks = _chunk(_JSON, text, b' ')
        if self._bytes:
            chunks += _chunk(_BIN, bytes(self._bytes), b'\0')
        return _HEADER.pack(_MAGIC, _VERSION, _HEADER.size + len(chunks)) + chunks

    def _primitive(self, surface: Surface, material: Material) -> dict[str, Any]:
        count = len(surface.positions)
        attributes = {
            'POSITION': self._vertices(surface.positions, 'VEC3', bounds=True),
            'NORMAL': self._vertices(surface.normals, 'VEC3'),
        }
        if surface.texels is not None and material.texture:
            attributes['TEXCOORD_0'] = self._vertices(surface.texels, 'VEC2')
        # The largest number of each width is not an index: it could mean a restart.
        kind, width = (_UINT16, '<u2') if count < 0xFFFF else (_UINT32, '<u4')
        faces = np.ascontiguousarray(surface.faces, width)
        indices = self._accessor(self._view(faces.tobytes(), _INDICES), kind, faces.size, 'SCALAR')
        self._materials.append(self._material(material))
        return {
            'attributes': attributes,
            'indices': indices,
            'material': len(self._materials) - 1,
            'mode': 4,
        }

    def _material(self, material: Material) -> dict[str, Any]:
        pbr: dict[str, Any] = {
            'baseColorFactor': _rounded(material.color),
            'roughnessFactor': round(material.roughness, 4),
            'metallicFactor': round(material.metallic, 4),
        }
        if material.texture:
            if material.texture not in self._images:
                self._images[material.texture] = self._view(material.texture)
            pbr['baseColorTexture'] = {'index': list(self._images).index(material.texture)}
        found: dict[str, Any] = {'pbrMetallicRoughness': pbr}
        if any(material.glow):
            found['emissiveFactor'] = _rounded(material.glow)
        if material.is_transparent:
            found['alphaMode'] = 'BLEND'
        return found

    def _vertices(self, rows: np.ndarray, kind: str, *, bounds: bool = False) -> int:
        data = np.ascontiguousarray(rows, '<f4')
        more = {'min': data.min(0).tolist(), 'max': data.max(0).tolist()} if bounds else {}
        view = self._view(data.tobytes(), _VERTICES)
        return self._accessor(view, _FLOAT, len(data), kind, **more)

    def _accessor(self, view: int, component: int, count: int, kind: str, **more: Any) -> int:
        self._accessors.append(
            {'bufferView': view, 'componentType': component, 'count': count, 'type': kind, **more}
        )
        return len(self._accessors) - 1

    def _view(self, data: bytes, target: int | None = None) -> int:
        self._bytes += bytes(-len(self._bytes) % _ALIGNMENT)
        view = {'buffer': 0, 'byteOffset': len(self._bytes), 'byteLength': len(data)}
        if target is not None:
            view['target'] = target
        self._views.append(view)
        self._bytes += data
        return len(self._views) - 1


def _chunk(kind: int, data: bytes, padding: bytes) -> bytes:
    data += padding * (-len(data) % _ALIGNMENT)
    return _CHUNK.pack(len(data), kind) + data


def _rounded(values: Sequence[float]) -> list[float]:
    return [round(min(max(value, 0.0), 1.0), 5) for value in values]


__all__ = ['MIME_TYPE', 'Material', 'Surface', 'glb', 'joined']
