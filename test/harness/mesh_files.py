# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Files of meshes and textures, and models that others have written."""

import importlib.util
from pathlib import Path
import struct
import zlib

CORNERS = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))
FACES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))


def tetrahedra(size=1.0, offsets=(0.0,)):
    """Return OBJ: tetrahedra with a corner at each of the offsets along x."""
    points = [(size * x + offset, size * y, size * z) for offset in offsets for x, y, z in CORNERS]
    faces = [
        [corner + 4 * i + 1 for corner in face] for i in range(len(offsets)) for face in FACES
    ]
    lines = [f'v {x:g} {y:g} {z:g}' for x, y, z in points] + [
        f'f {a} {b} {c}' for a, b, c in faces
    ]
    return '\n'.join(lines) + '\n'


def png(color=(255, 0, 0), size=2):
    """Return a square image of one colour."""

    def chunk(kind, data):
        crc = struct.pack('>I', zlib.crc32(kind + data))
        return struct.pack('>I', len(data)) + kind + data + crc

    rows = (b'\0' + bytes(color) * size) * size
    header = struct.pack('>IIBBBBB', size, size, 8, 2, 0, 0, 0)
    body = chunk(b'IHDR', header) + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b'')
    return b'\x89PNG\r\n\x1a\n' + body


def foreign_model(name):
    """Return the path of a model of gymnasium-robotics."""
    found = importlib.util.find_spec('gymnasium_robotics')
    assert found, 'gymnasium-robotics is not installed: run `make setup`'
    return Path(found.origin).parent / 'envs' / 'assets' / name
