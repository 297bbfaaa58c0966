# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Mesh files of any format as files that MuJoCo reads, converted once.

The cache has one folder for each content, that of the files which a mesh names (materials,
buffers, textures) included: a changed mesh is converted again, and two robots with the same mesh
share it.  A mesh of several colours becomes one file a colour, because MuJoCo reads shapes alone.
A flat one gets a second file with a thickness, because it has no convex hull.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from collections.abc import Iterator
import contextlib
from dataclasses import dataclass
import hashlib
import io
import json
import os
from pathlib import Path
import re
from typing import Any
import xml.etree.ElementTree as ElementTree

import numpy as np

from urlab_ros_bridge.files import FileRefused
from urlab_ros_bridge.files.folders import cache_folder
from urlab_ros_bridge.files.work_folder import work_folder
from urlab_ros_bridge.robot_import.errors import MissingExtra
from urlab_ros_bridge.robot_import.errors import RobotImportError
from urlab_ros_bridge.robot_import.options import ImportOptions

Color = tuple[float, float, float, float]
Reader = Callable[[Path], bytes]  # raises FileRefused

_FORMAT = 3  # of the folders in the cache
_BESIDE = 'beside.json'  # in such a folder: digests of the files that the mesh names
_MAX_STEM = 100  # of a file's name in the cache
_STL_HEADER, _STL_TRIANGLE = 84, 50  # bytes
_MAX_TRIANGLES = 200_000  # in one STL file of MuJoCo
_STL_RECORD = np.dtype([('normal', '<f4', 3), ('corners', '<f4', (3, 3)), ('attribute', '<u2')])
# What trimesh reads and MuJoCo does not; it needs no package for STL and OBJ.
_CONVERTED = ('.dae', '.glb', '.gltf', '.obj', '.ply', '.stl', '.off', '.3mf')
_TEXTS = ('.mtl', '.obj', '.off', '.stl')
_INVISIBLE = 0.05
# Relative to the largest extent: what is thinner is flat, and gets a thickness.
_FLAT, _THICKNESS = 1e-5, 0.01
_SOLID = '.solid'  # ends the stems of files with a thickness
_TO_Z_UP = {
    'X_UP': np.array([[0, -1, 0], [0, 0, 1], [-1, 0, 0]], float),
    'Y_UP': np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]], float),
}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:24]


class UnreadableMesh(RobotImportError):
    """A mesh file cannot be used; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class MeshPart:
    """
    One mesh in one colour.

    :ivar path: a file that MuJoCo draws, in m.
    :ivar color: RGBA, None where the file has none.
    :ivar solid: a file that has a convex hull; `path` itself unless that is flat.
    """

    path: Path
    color: Color | None
    solid: Path

    @property
    def is_flat(self) -> bool:
        """Whether its solid has a thickness that the mesh lacks."""
        return self.solid != self.path


class MeshCache:
    """Converts meshes into a folder, which several processes may share."""

    def __init__(
        self, folder: Path | None = None, read: Reader | None = None, up_axis: str = 'raw'
    ) -> None:
        """
        Use a folder.

        :param folder: None: `~/.cache/urlab_ros_bridge/robot_meshes` (XDG).
        :param read: reads the mesh files and those that they name; None: any regular file.
        :param up_axis: one of `options.UP_AXES`: `file` rotates Collada files from the axis that
            they name to z up, `raw` ignores it, as RViz, MoveIt and Gazebo do.
        """
        self._up_axis = up_axis
        self._folder = folder or cache_folder('robot_meshes')
        self._read = read or ImportOptions().read

    def parts(self, path: Path) -> list[MeshPart]:
        """
        Return the parts of a mesh file, none when all of its corners are in a line.

        :raises UnreadableMesh: when it is missing, of an unknown format, or empty.
        :raises MissingExtra: when it must be converted and trimesh is not installed.
        """
        try:
            content = self._read(path)
        except FileRefused as error:
            raise UnreadableMesh(str(error)) from error
        ending = path.suffix.lower()
        if ending not in _CONVERTED:
            raise UnreadableMesh(f'{ending or "no"} format; known: {", ".join(_CONVERTED)}')
        turned = ending == '.dae' and self._up_axis == 'file'
        digest = _digest(content) + ('up' if turned else '')
        stem = re.sub(r'[^A-Za-z0-9-]+', '_', path.stem)[:_MAX_STEM]
        beside = FilesBeside(path, self._read)
        for folder in self._folder.glob(f'{stem}_{digest}_*_{_FORMAT}'):
            if beside.are_those_of(folder / _BESIDE):
                break
        else:
            folder = self._fill(f'{stem}_{digest}', path, content, beside)
        files = sorted(file for file in folder.glob('*.stl') if not file.stem.endswith(_SOLID))
        return [_part(file) for file in files]

    def _fill(self, name: str, path: Path, content: bytes, beside: FilesBeside) -> Path:
        """Make the folder of a mesh, whole or not at all."""
        with work_folder(self._folder, '.') as work:
            empty = True
            for number, (color, triangles) in enumerate(self._pieces(path, content, beside)):
                empty = empty and not len(triangles)
                _write_part(work / f'{name}_{number}{_color_ending(color)}.stl', triangles)
            if empty:
                raise UnreadableMesh('it has no triangles')
            listed = json.dumps(beside.digests, sort_keys=True)
            (work / _BESIDE).write_text(listed)
            work.chmod(0o755)
            folder = self._folder / f'{name}_{_digest(listed.encode())}_{_FORMAT}'
            try:
                os.rename(work, folder)
            except OSError:
                if not folder.is_dir():  # or another process was faster
                    raise
        return folder

    def _pieces(
        self, path: Path, content: bytes, beside: FilesBeside
    ) -> Iterator[tuple[Color | None, np.ndarray]]:
        """Yield colours and triangles, shape (n, 3, 3), in m, as many as MuJoCo reads at once."""
        if path.suffix.lower() == '.stl' and _is_plain_stl(content):
            yield None, _plain_triangles(content)
            return
        turned = self._up_axis == 'file'
        for color, triangles in _converted(path, content, beside, turned):
            # Pieces of one size: the rest of a division might be a single triangle.
            for piece in np.array_split(triangles, 1 + len(triangles) // _MAX_TRIANGLES):
                yield color, piece


class FilesBeside:
    """
    Reads the files that a mesh names, for trimesh, and keeps what they were.

    :ivar digests: by name; '' for a file that cannot be read.
    """

    def __init__(self, mesh: Path, read: Reader) -> None:
        self.digests: dict[str, str] = {}
        self._folder = mesh.parent
        self._read = read

    def get(self, name: str) -> bytes:
        """
        Return the content of a file.

        :param name: as the mesh has it: a path from the mesh's folder.
        :raises FileRefused: when it cannot be read.
        """
        # Exporters write paths of their own machines: then the file is expected beside the mesh.
        last = name.strip().replace('\\', '/').rpartition('/')[2]
        for place in (name.strip(), last):
            with contextlib.suppress(FileRefused):
                content = self._read(self._folder / place)
                self.digests[name] = _digest(content)
                return _in_utf8(content, Path(last).suffix.lower())
        self.digests[name] = ''
        raise FileRefused(f'{name!r} cannot be read')

    def are_those_of(self, listing: Path) -> bool:
        """Return whether the files beside the mesh have the contents in a file of the cache."""
        try:
            listed = json.loads(listing.read_bytes())
        except (OSError, ValueError):
            return False
        for name in listed:
            with contextlib.suppress(FileRefused):
                self.get(name)
        return {name: self.digests[name] for name in listed} == listed

    __getitem__ = get


def _in_utf8(content: bytes, ending: str) -> bytes:
    """
    Return a mesh with its texts in UTF-8, which trimesh needs.

    Exporters write comments and names in the encoding of their machine; what matters is ASCII.
    """
    if ending == '.ply':  # only its header is text in any case
        header, mark, rest = content.partition(b'end_header')
    elif ending in _TEXTS and not (ending == '.stl' and b'\0' in content[:_STL_HEADER]):
        header, mark, rest = content.removeprefix(codecs.BOM_UTF8), b'', b''
    else:
        return content
    try:
        header.decode()
    except UnicodeDecodeError:
        header = header.decode('latin-1').encode()
    return header + mark + rest


def _is_plain_stl(content: bytes) -> bool:
    """Return whether MuJoCo reads a STL file as it is: binary, and not too large."""
    count = int.from_bytes(content[80:84], 'little')
    return 0 < count <= _MAX_TRIANGLES and len(content) == _STL_HEADER + _STL_TRIANGLE * count


def _plain_triangles(content: bytes) -> np.ndarray:
    """Return the triangles of a binary STL file, shape (n, 3, 3)."""
    triangles = np.frombuffer(content, _STL_RECORD, offset=_STL_HEADER)['corners'].astype(float)
    return triangles[np.isfinite(triangles).all(axis=(1, 2))]


def _write_part(path: Path, triangles: np.ndarray) -> None:
    """Write a mesh, and if it is flat its solid; nothing when all corners are in a line."""
    if not len(triangles):
        return
    corners = triangles.reshape(-1, 3)
    centred = corners - corners.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1]  # the direction of least extent first
    thin, width, length = np.ptp(centred @ axes, axis=0)
    if width <= _FLAT * length:
        return
    is_flat = bool(thin <= _FLAT * length)
    if is_flat:
        offset = axes[:, 0] * _THICKNESS / 2 * length
        solid = np.concatenate([triangles + offset, triangles[:, ::-1] - offset])
        path.with_stem(path.stem + _SOLID).write_bytes(_stl(solid))
        if len(np.unique(corners, axis=0)) < 4:  # MuJoCo draws no single triangle
            triangles = solid
    path.write_bytes(_stl(triangles))


def _color_ending(color: Color | None) -> str:
    return '' if color is None else '_' + ''.join(f'{round(255 * part):02x}' for part in color)


def _part(path: Path) -> MeshPart:
    found = re.fullmatch(r'.*_\d+_([0-9a-f]{8})', path.stem)
    color = tuple(part / 255 for part in bytes.fromhex(found[1])) if found else None
    solid = path.with_stem(path.stem + _SOLID)
    return MeshPart(path, color, solid if solid.exists() else path)  # type: ignore[arg-type]


def _converted(
    path: Path, content: bytes, beside: FilesBeside, turned: bool
) -> Iterator[tuple[Color | None, np.ndarray]]:
    """Yield colours and triangles, shape (n, 3, 3), in m; `turned`: and z up."""
    try:
        import trimesh
    except ImportError as error:
        raise MissingExtra('trimesh', 'urdf', path.name) from error
    try:
        scene = _scene(trimesh, path.suffix.lower(), content, beside)
        frame = _collada_frame(content, turned) if path.suffix.lower() == '.dae' else np.eye(3)
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
        yield color, triangles[np.isfinite(triangles).all(axis=(1, 2))]


def _scene(trimesh: Any, ending: str, content: bytes, beside: FilesBeside) -> Any:
    def load(text: bytes) -> Any:
        return trimesh.load_scene(io.BytesIO(text), file_type=ending[1:], resolver=beside)

    content = _in_utf8(content, ending)
    scene = load(content)
    if scene.geometry or ending != '.dae':
        return scene
    # A reference to a missing material or texture costs pycollada the shape.
    return load(re.sub(rb'<bind_material>.*?</bind_material>', b'', content, flags=re.DOTALL))


def _collada_frame(content: bytes, turned: bool) -> np.ndarray:
    """Return the matrix from a Collada file's unit to m, and its axes to z up, shape (3, 3)."""
    unit, up = 1.0, 'Y_UP'  # defaults of the format
    for _, element in ElementTree.iterparse(io.BytesIO(content)):
        name = element.tag.rpartition('}')[2]
        if name == 'unit':
            unit = float(element.get('meter', '1'))
        elif name == 'up_axis':
            up = (element.text or up).strip()
        elif name == 'asset':
            break
    return unit * (_TO_Z_UP.get(up, np.eye(3)) if turned else np.eye(3))


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
    records = np.zeros(len(triangles), _STL_RECORD)
    records['corners'] = triangles
    return bytes(80) + len(triangles).to_bytes(4, 'little') + records.tobytes()
