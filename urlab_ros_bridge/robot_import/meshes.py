# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Mesh files of any format as files that MuJoCo reads, converted once.

The cache has one folder for each content: a changed mesh is converted again, and two robots with
the same mesh share it.  A mesh of several colours becomes one file a colour, because MuJoCo reads
shapes alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
import hashlib
import io
import os
from pathlib import Path
import re
import shutil
import tempfile
from typing import Any
import xml.etree.ElementTree as ElementTree

import numpy as np

from urlab_ros_bridge.files.folders import cache_folder
from urlab_ros_bridge.robot_import.errors import MissingExtra

Color = tuple[float, float, float, float]

_FORMAT = 1  # of the folders in the cache
_STL_HEADER, _STL_TRIANGLE = 84, 50  # bytes
_MAX_TRIANGLES = 200_000  # in one STL file of MuJoCo
# What trimesh reads and MuJoCo does not; it needs no package for STL and OBJ.
_CONVERTED = ('.dae', '.glb', '.gltf', '.obj', '.ply', '.stl', '.off', '.3mf')
_INVISIBLE = 0.05
_TO_Z_UP = {
    'X_UP': np.array([[0, -1, 0], [0, 0, 1], [-1, 0, 0]], float),
    'Y_UP': np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]], float),
}


class UnreadableMesh(Exception):
    """A mesh file cannot be used; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class MeshPart:
    """
    One mesh in one colour.

    :ivar path: a file that MuJoCo reads, in m, z up.
    :ivar color: RGBA, None where the file has none.
    """

    path: Path
    color: Color | None


class MeshCache:
    """Converts meshes into a folder, which several processes may share."""

    def __init__(self, folder: Path | None = None) -> None:
        """Use a folder; None: `~/.cache/urlab_ros_bridge/robot_meshes` (XDG)."""
        self._folder = folder or cache_folder('robot_meshes')

    def parts(self, path: Path) -> list[MeshPart]:
        """
        Return the parts of a mesh file.

        :raises UnreadableMesh: when it is missing, of an unknown format, or empty.
        :raises MissingExtra: when it must be converted and trimesh is not installed.
        """
        try:
            content = path.read_bytes()
        except OSError as error:
            raise UnreadableMesh(error.strerror or str(error)) from error
        ending = path.suffix.lower()
        if ending not in _CONVERTED:
            raise UnreadableMesh(f'{ending or "no"} format; known: {", ".join(_CONVERTED)}')
        digest = hashlib.sha256(content).hexdigest()[:24]
        stem = re.sub(r'[^A-Za-z0-9-]+', '_', path.stem)
        folder = self._folder / f'{stem}_{digest}_{_FORMAT}'
        if not folder.is_dir():
            self._fill(folder, path, content)
        return sorted((_part(file) for file in folder.iterdir()), key=lambda part: part.path)

    def _fill(self, folder: Path, path: Path, content: bytes) -> None:
        """Make the folder of a mesh, whole or not at all."""
        self._folder.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix='.', dir=self._folder))
        try:
            stem = folder.name.rsplit('_', 1)[0]
            if path.suffix.lower() == '.stl' and _is_plain_stl(content):
                (work / f'{stem}.stl').write_bytes(content)
            else:
                for number, (color, triangles) in enumerate(_converted(path)):
                    name = f'{stem}_{number}{_color_ending(color)}.stl'
                    (work / name).write_bytes(_stl(triangles))
            if not any(work.iterdir()):
                raise UnreadableMesh('it has no triangles')
            work.chmod(0o755)
            try:
                os.rename(work, folder)
            except OSError:
                if not folder.is_dir():  # or another process was faster
                    raise
        finally:
            shutil.rmtree(work, ignore_errors=True)


def _is_plain_stl(content: bytes) -> bool:
    """Return whether MuJoCo reads a STL file as it is: binary, and not too large."""
    count = int.from_bytes(content[80:84], 'little')
    return 0 < count <= _MAX_TRIANGLES and len(content) == _STL_HEADER + _STL_TRIANGLE * count


def _color_ending(color: Color | None) -> str:
    return '' if color is None else '_' + ''.join(f'{round(255 * part):02x}' for part in color)


def _part(path: Path) -> MeshPart:
    found = re.fullmatch(r'.*_\d+_([0-9a-f]{8})', path.stem)
    color = tuple(part / 255 for part in bytes.fromhex(found[1])) if found else None
    return MeshPart(path, color)  # type: ignore[arg-type]


def _converted(path: Path) -> Iterator[tuple[Color | None, np.ndarray]]:
    """Yield colours and triangles, shape (n, 3, 3), in m and z up."""
    try:
        import trimesh
    except ImportError as error:
        raise MissingExtra('trimesh', 'urdf', path.name) from error
    try:
        scene = _scene(trimesh, path)
        frame = _collada_frame(path) if path.suffix.lower() == '.dae' else np.eye(3)
        by_color: dict[Color | None, list[np.ndarray]] = {}
        for node in scene.graph.nodes_geometry:
            transform, name = scene.graph[node]
            shape = scene.geometry[name]
            corners = np.asarray(shape.triangles, float)
            if corners.size:
                placed = corners @ transform[:3, :3].T + transform[:3, 3]
                by_color.setdefault(_color(shape.visual), []).append(placed @ frame.T)
    except ImportError as error:
        raise MissingExtra(error.name or 'pycollada', 'urdf', path.name) from error
    except Exception as error:  # whatever a loader raises on a broken file
        raise UnreadableMesh(f'{type(error).__name__}: {error}') from error
    for color, pieces in by_color.items():
        triangles = np.concatenate(pieces)
        triangles = triangles[np.isfinite(triangles).all(axis=(1, 2))]
        for start in range(0, len(triangles), _MAX_TRIANGLES):
            yield color, triangles[start : start + _MAX_TRIANGLES]


def _scene(trimesh: Any, path: Path) -> Any:
    scene = trimesh.load_scene(path)
    if scene.geometry or path.suffix.lower() != '.dae':
        return scene
    # A reference to a missing material or texture costs pycollada the shape.
    plain = re.sub(rb'<bind_material>.*?</bind_material>', b'', path.read_bytes(), flags=re.DOTALL)
    return trimesh.load_scene(io.BytesIO(plain), file_type='dae')


def _collada_frame(path: Path) -> np.ndarray:
    """Return the matrix from a Collada file's axes and unit to z up and metres, shape (3, 3)."""
    unit, up = 1.0, 'Y_UP'  # defaults of the format
    for _, element in ElementTree.iterparse(path):
        name = element.tag.rpartition('}')[2]
        if name == 'unit':
            unit = float(element.get('meter', '1'))
        elif name == 'up_axis':
            up = (element.text or up).strip()
        elif name == 'asset':
            break
    return unit * _TO_Z_UP.get(up, np.eye(3))


def _color(visual: Any) -> Color | None:
    """Return the colour of a mesh: of its material, the mean of its texture or its vertices."""
    if visual is None or not visual.defined:
        return None
    image = getattr(getattr(visual, 'material', None), 'baseColorTexture', None)
    if image is not None:
        red, green, blue = np.asarray(image.convert('RGB')).reshape(-1, 3).mean(axis=0)
        return red / 255, green / 255, blue / 255, 1.0
    color = visual.material.main_color if visual.kind == 'texture' else visual.main_color
    red, green, blue, alpha = (round(float(part)) / 255 for part in color)
    # Writers of Collada disagree about which end of transparency is opaque.
    return red, green, blue, alpha if alpha > _INVISIBLE else 1.0


def _stl(triangles: np.ndarray) -> bytes:
    """Return a binary STL file; MuJoCo computes the normals itself."""
    kind = np.dtype([('normal', '<f4', 3), ('corners', '<f4', (3, 3)), ('attribute', '<u2')])
    records = np.zeros(len(triangles), kind)
    records['corners'] = triangles
    return bytes(80) + len(triangles).to_bytes(4, 'little') + records.tobytes()
