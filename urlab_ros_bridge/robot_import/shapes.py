# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The `<visual>` and `<collision>` elements of a URDF as MuJoCo's reader takes them.

Meshes become files that MuJoCo reads, one element a colour; a shape that MuJoCo would refuse, and
the whole robot with it, is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import copy
import math
from pathlib import Path
import xml.etree.ElementTree as ElementTree

from urlab_ros_bridge.robot_import.errors import MissingMeshes
from urlab_ros_bridge.robot_import.errors import PackageNotFound
from urlab_ros_bridge.robot_import.meshes import Color
from urlab_ros_bridge.robot_import.meshes import MeshCache
from urlab_ros_bridge.robot_import.meshes import MeshPart
from urlab_ros_bridge.robot_import.meshes import UnreadableMesh
from urlab_ros_bridge.robot_import.packages import Packages
from urlab_ros_bridge.robot_import.report import ImportReport

# Attributes of the primitives of URDF, each with its number of values.
_PRIMITIVES: Mapping[str, Mapping[str, int]] = {
    'box': {'size': 3},
    'sphere': {'radius': 1},
    'cylinder': {'radius': 1, 'length': 1},
    'capsule': {'radius': 1, 'length': 1},
}
_LEAST = 1e-15  # m; what MuJoCo takes for zero


class ShapeImport:
    """Prepares the shapes of all links."""

    def __init__(self, packages: Packages, cache: MeshCache, report: ImportReport) -> None:
        self._packages = packages
        self._cache = cache
        self._report = report
        self._meshdir = ''

    def prepare(self, robot: ElementTree.Element, *, allow_missing: bool) -> None:
        """
        Replace the meshes of all links, and leave out what has no size.

        :param allow_missing: leave out meshes that cannot be used instead of raising.
        :raises MissingMeshes: naming all meshes that cannot be used.
        """
        compiler = robot.find('mujoco/compiler')
        self._meshdir = '' if compiler is None else compiler.get('meshdir', '')
        problems: dict[str, str] = {}
        served = described = 0
        for link in robot.findall('link'):
            part = f'link {link.get("name")!r}'
            for element in [e for e in link if e.tag in ('visual', 'collision')]:
                described += 1
                try:
                    shapes = self._shapes(element, part)
                except (UnreadableMesh, PackageNotFound) as error:
                    name = _mesh_name(element)
                    problems[name] = str(error)
                    if allow_missing:
                        self._report.left_out(part, f'{element.tag} {name}: {error}')
                    shapes = []
                served += bool(shapes)
                place = list(link).index(element)
                link.remove(element)
                for shape in reversed(shapes):
                    link.insert(place, shape)
        if problems and not allow_missing:
            raise MissingMeshes(problems)
        self._report.count('shapes', served, described)

    def _shapes(self, element: ElementTree.Element, part: str) -> list[ElementTree.Element]:
        """Return what a `<visual>` or `<collision>` becomes."""
        # Names repeat, and MuJoCo names shapes by themselves.
        element.attrib.pop('name', None)
        geometry = element.find('geometry')
        shape = next(iter(geometry), None) if geometry is not None else None
        if shape is None:
            problem = 'it has no shape'
        elif shape.tag == 'mesh':
            problem = _scale_problem(shape)
            if not problem:
                return self._mesh_shapes(element, part)
        else:
            problem = _size_problem(shape)
            if not problem:
                return [element]
        self._report.left_out(part, f'{element.tag}: {problem}')
        return []

    def _mesh_shapes(self, element: ElementTree.Element, part: str) -> list[ElementTree.Element]:
        name = _mesh_name(element)
        parts = self._cache.parts(self._file(name))
        if not parts:
            self._report.left_out(part, f'{element.tag} {name}: all of its corners are in a line')
        if element.tag == 'visual':
            return [_with_mesh(element, item, item.color) for item in parts]
        if any(item.is_flat for item in parts):
            problem = 'it is flat, and gets a hundredth of its size as thickness'
            self._report.repaired(part, f'collision {name}: {problem}')
        return [_with_mesh(element, item) for item in parts]

    def _file(self, name: str) -> Path:
        """Return the path of a mesh: also below the `meshdir` that a URDF has for MuJoCo."""
        last = name.rpartition('/')[2]
        if self._meshdir and '://' not in name:
            for path in (self._packages.file(f'{self._meshdir}/{each}') for each in (name, last)):
                if path.is_file() and not self._packages.file(name).is_file():
                    return path
        return self._packages.file(name)


def _mesh_name(element: ElementTree.Element) -> str:
    mesh = element.find('geometry/mesh')
    return '' if mesh is None else mesh.get('filename', '')


def _with_mesh(
    element: ElementTree.Element, part: MeshPart, color: Color | None = None
) -> ElementTree.Element:
    """Return a copy of an element with another mesh, whose own colour takes precedence (RViz)."""
    changed = copy.deepcopy(element)
    mesh = changed.find('geometry/mesh')
    assert mesh is not None
    mesh.set('filename', str(part.solid if element.tag == 'collision' else part.path))
    if color is not None:
        for old in changed.findall('material'):
            changed.remove(old)
        changed.append(_material(color))
    return changed


def _material(color: Color) -> ElementTree.Element:
    text = ' '.join(f'{part:.4g}' for part in color)
    material = ElementTree.Element('material', name=f'color {text}')
    ElementTree.SubElement(material, 'color', rgba=text)
    return material


def _scale_problem(mesh: ElementTree.Element) -> str:
    text = mesh.get('scale', '1 1 1')
    values = _numbers(text)
    if len(values) == 3 and all(abs(value) > _LEAST for value in values):
        return ''
    return f'the scale {text!r} of {mesh.get("filename")} is not three numbers other than 0'


def _size_problem(shape: ElementTree.Element) -> str:
    """Return why MuJoCo could not make a primitive, '' when it can."""
    if shape.tag not in _PRIMITIVES:
        return f'<{shape.tag}> is unknown; known: mesh, {", ".join(_PRIMITIVES)}'
    for name, count in _PRIMITIVES[shape.tag].items():
        text = shape.get(name, '')
        values = _numbers(text)
        if len(values) != count or min(values) <= _LEAST:
            return f'the {name} {text!r} of its {shape.tag} is not {count} numbers above 0'
    return ''


def _numbers(text: str) -> Sequence[float]:
    """Return the finite numbers of a text, none when it has anything else."""
    try:
        values = [float(word) for word in text.split()]
    except ValueError:
        return ()
    return values if all(map(math.isfinite, values)) else ()
