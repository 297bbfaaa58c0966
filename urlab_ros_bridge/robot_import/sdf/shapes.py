# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Visuals, collisions and inertias of links, as MuJoCo has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import field
import io
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from PIL import Image

from urlab_ros_bridge.files import FileRefused
from urlab_ros_bridge.geometry import matrix_of
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import Quaternion
from urlab_ros_bridge.geometry import wxyz_to_xyzw
from urlab_ros_bridge.geometry import xyzw_to_wxyz
from urlab_ros_bridge.robot_import.errors import PackageNotFound
from urlab_ros_bridge.robot_import.errors import RobotImportError
from urlab_ros_bridge.robot_import.links import physical_inertia
from urlab_ros_bridge.robot_import.meshes import MeshCache
from urlab_ros_bridge.robot_import.sdf.document import SdfElement
from urlab_ros_bridge.robot_import.sdf.resources import Resources
from urlab_ros_bridge.robot_import.spec import COLLISION_GROUP
from urlab_ros_bridge.robot_import.spec import VISUAL_GROUP

_GEOM = mujoco.mjtGeom
_GREY = (0.7, 0.7, 0.7, 1.0)  # Gazebo's, of a visual without material
# Colours of Gazebo's own materials, which worlds of Gazebo Classic name.
_SCRIPTED = {
    'black': (0.05, 0.05, 0.05), 'blue': (0.0, 0.0, 0.8), 'darkgrey': (0.18, 0.18, 0.18),
    'green': (0.0, 0.6, 0.0), 'grey': (0.5, 0.5, 0.5), 'orange': (1.0, 0.5, 0.1),
    'purple': (0.6, 0.0, 0.8), 'red': (0.8, 0.0, 0.0), 'turquoise': (0.0, 0.8, 0.8),
    'white': (0.95, 0.95, 0.95), 'wood': (0.55, 0.38, 0.22), 'yellow': (0.9, 0.9, 0.0),
}  # fmt: skip
_FLAT = 0.005  # m, half the thickness of a plane on something that moves
_EXTENT = 50.0  # m, half the size of such a plane that states none
_SEGMENTS = 32  # of a cone
_FRICTION = (0.0, 10.0)
_USUAL_BITS = 0xFFFF
_BYTE, _UNDERGROUND = 255, 1.0  # grey value; m below the lowest point
_DENSITY = 1000.0  # kg/m^3, of <inertial auto="true">


@dataclass
class ShapeMaker:
    """
    Adds shapes to the bodies of a spec.

    :ivar masks: the file has bit masks of collisions, so that shapes without one have Gazebo's.
    :ivar problems: meshes that cannot be used, by URI.
    :ivar left_out: elements without a counterpart, with their number.
    """

    resources: Resources
    meshes: MeshCache
    masks: bool
    problems: dict[str, str] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)

    def add(
        self,
        spec: mujoco.MjSpec,
        body: mujoco.MjsBody,
        link: SdfElement,
        place: Callable[[SdfElement], Pose],
        *,
        moves: bool,
        name: str = '',
    ) -> None:
        """
        Add the shapes of a link.

        :param place: returns where an element of the link is in the body.
        :param moves: the body moves, so it cannot have planes.
        :param name: prefix of their names; default: that of the body.
        """
        visuals, collisions = link.all('visual'), link.all('collision')
        for kind, elements in (('visual', visuals), ('collision', collisions)):
            for number, element in enumerate(elements, 1):
                label = f'{name or body.name}_{kind}{number if number > 1 else ""}'
                drawn = kind == 'visual' or not visuals
                common: dict[str, Any] = {
                    'group': VISUAL_GROUP if drawn else COLLISION_GROUP,
                    'density': 0.0,
                    **(_look(element) if kind == 'visual' else self._touch(element)),
                }
                made = self._made(spec, element, place(element), moves=moves)
                for part, (shape, color) in enumerate(made):
                    ending = f'_{part}' if part else ''
                    geom = body.add_geom(**{**common, **shape}, name=f'{label}{ending}')
                    if kind == 'visual' and color is not None and 'rgba' not in common:
                        geom.rgba = color
                    elif kind == 'visual' and 'rgba' not in common:
                        geom.rgba = _GREY

    def _made(
        self, spec: mujoco.MjSpec, element: SdfElement, pose: Pose, *, moves: bool
    ) -> list[tuple[dict[str, Any], Any]]:
        """Return the arguments of geoms, each with the colour of its mesh, None without one."""
        geometry = element.first('geometry')
        shape = None if geometry is None else geometry.first('*')
        if shape is None or shape.tag == 'empty':
            return []
        found = _SHAPES.get(shape.tag)
        if shape.tag == 'plane':
            pose = pose.then(Pose(orientation=_normal(shape)))
        at = {'pos': pose.position, 'quat': xyzw_to_wxyz(pose.orientation)}
        if found is not None:
            return [({**at, **found(shape, moves)}, None)]
        if shape.tag == 'mesh':
            solid = element.tag == 'collision'
            return [({**at, **each}, color) for each, color in self._mesh(spec, shape, solid)]
        if shape.tag == 'heightmap' and not moves:
            return self._heights(spec, shape, pose)
        if shape.tag == 'cone':
            return [({**at, 'type': _GEOM.mjGEOM_MESH, 'meshname': _cone(spec, shape)}, None)]
        self.left_out[f'<{shape.tag}> as geometry'] += 1
        return []

    def _mesh(
        self, spec: mujoco.MjSpec, shape: SdfElement, solid: bool
    ) -> list[tuple[dict[str, Any], Any]]:
        uri = shape.value('uri')
        try:
            parts = self.meshes.parts(self.resources.file(uri, shape.source))
        except (RobotImportError, PackageNotFound) as error:
            self.problems[uri] = str(error)
            return []
        if shape.first('submesh') is not None:
            self.left_out['<submesh> (the whole mesh is taken)'] += 1
        scale = shape.numbers('scale', [1.0, 1.0, 1.0])
        made = []
        for part in parts:
            name = mesh_asset(spec, part.solid if solid else part.path, scale)
            made.append(({'type': _GEOM.mjGEOM_MESH, 'meshname': name}, part.color))
        return made

    def _heights(
        self, spec: mujoco.MjSpec, shape: SdfElement, pose: Pose
    ) -> list[tuple[dict[str, Any], Any]]:
        """Return a height field: black is the lowest, white the highest point."""
        uri = shape.value('uri')
        try:
            path = self.resources.file(uri, shape.source)
            with Image.open(io.BytesIO(self.resources.read(path))) as image:
                grey = np.asarray(image.convert('F'), np.float32)
        except (PackageNotFound, FileRefused, OSError, ValueError) as error:
            self.problems[uri] = str(error)
            return []
        size = shape.numbers('size', [1.0, 1.0, 1.0])
        if not (size > 0.0).all():
            raise shape.failure(f'<size> {size} must be more than 0')
        most = float(np.iinfo(np.uint16).max if grey.max() > _BYTE else _BYTE)
        heights = grey[::-1] / most  # rows of an image go down, those of MuJoCo up
        top = float(heights.max()) or 1.0
        name = f'heights_{path.stem}'
        if spec.hfield(name) is None:
            spec.add_hfield(
                name=name, nrow=heights.shape[0], ncol=heights.shape[1],
                size=(size[0] / 2, size[1] / 2, size[2] * top, _UNDERGROUND),
                userdata=(heights / top).ravel(),
            )  # fmt: skip
        moved = pose.then(Pose(tuple(shape.numbers('pos', [0.0, 0.0, 0.0]).tolist())))
        at = {'pos': moved.position, 'quat': xyzw_to_wxyz(moved.orientation)}
        return [({**at, 'type': _GEOM.mjGEOM_HFIELD, 'hfieldname': name}, None)]

    def inertial(self, link: SdfElement, place: Callable[[SdfElement], Pose]) -> Inertial:
        """
        Return the inertial of a link, else Gazebo's default: 1 kg, 1 kg m^2 about each axis.

        :param place: returns where an element of the link is in it.
        :raises InvalidDescription: for a mass that is not positive.
        """
        element = link.first('inertial')
        if element is None:
            self.left_out['link without <inertial> (1 kg taken, as in Gazebo)'] += 1
            return Inertial(1.0, np.zeros(3), np.eye(3))
        if element.get('auto', 'false').lower() in ('true', '1'):
            return self._from_collisions(link, element.number('density', _DENSITY), place)
        mass = element.number('mass', 1.0)
        if mass <= 0.0:
            raise element.failure(f'a mass of {mass:g} kg is not more than 0')
        tensor = np.eye(3)
        for row, column in combinations_with_replacement(range(3), 2):
            name = f'inertia/i{"xyz"[row]}{"xyz"[column]}'
            tensor[row, column] = tensor[column, row] = element.number(name, float(row == column))
        pose = element.pose()
        rotation = matrix_of(pose.orientation)
        return Inertial(mass, np.array(pose.position), rotation @ tensor @ rotation.T)

    def _from_collisions(
        self, link: SdfElement, density: float, place: Callable[[SdfElement], Pose]
    ) -> Inertial:
        """Return what MuJoCo computes of the collisions, each of its density (kg/m^3)."""
        spec = mujoco.MjSpec()
        body = spec.worldbody.add_body()
        for collision in link.all('collision'):
            for shape, _ in self._made(spec, collision, place(collision), moves=True):
                own = collision.number('density', density)
                body.add_geom(**shape, density=own)
        for mesh in spec.meshes:
            mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
        body.add_freejoint()
        try:
            model = spec.compile()
        except (ValueError, RuntimeError) as error:
            raise link.failure(f'<inertial auto="true"> needs collisions: {error}') from error
        rotation = matrix_of(wxyz_to_xyzw(model.body_iquat[1]))
        tensor = rotation @ np.diag(model.body_inertia[1]) @ rotation.T
        return Inertial(float(model.body_mass[1]), model.body_ipos[1].copy(), tensor)

    def _touch(self, collision: SdfElement) -> dict[str, Any]:
        """Return which shapes a collision touches, and its friction."""
        bits = _USUAL_BITS if self.masks else 1
        text = collision.value('surface/contact/collide_bitmask')
        if text:
            try:
                bits = int(text, 0) & 0x7FFFFFFF
            except ValueError:
                raise collision.failure(f'collide_bitmask {text!r:.20} is no number') from None
        touch: dict[str, Any] = {'contype': bits, 'conaffinity': bits}
        found = [
            collision.number(f'surface/friction/{name}', -1.0)
            for name in ('ode/mu', 'ode/mu2', 'bullet/friction', 'bullet/friction2')
        ]
        given = [value for value in found if value >= 0.0]
        if given:
            friction = min(max(sum(given) / len(given), _FRICTION[0]), _FRICTION[1])
            torsion = collision.number('surface/friction/torsional/coefficient', 0.005)
            touch['friction'] = (friction, min(max(torsion, 0.0), _FRICTION[1]), 0.0001)
            # Of two shapes the more slippery one counts in Gazebo, the rougher one in MuJoCo.
            touch['priority'] = int(friction < 1.0)
        return touch


def mesh_asset(spec: mujoco.MjSpec, path: Path, scale: np.ndarray) -> str:
    """Return the name of the asset of a mesh file; it is added unless it is there already."""
    plain = bool((scale == 1.0).all())
    name = path.stem if plain else f'{path.stem}_{"_".join(f"{each:g}" for each in scale)}'
    if spec.mesh(name) is None:
        spec.add_mesh(
            name=name,
            file=str(path),
            scale=scale,
            inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,
        )
    return name


def _cone(spec: mujoco.MjSpec, shape: SdfElement) -> str:
    radius, length = _size(shape, 'radius', 0.5), _size(shape, 'length', 1.0)
    name = f'cone_{radius:g}_{length:g}'
    if spec.mesh(name) is None:
        turns = np.arange(_SEGMENTS) * 2 * np.pi / _SEGMENTS
        rim = np.column_stack((radius * np.cos(turns), radius * np.sin(turns), turns * 0))
        rim[:, 2] = -length / 2
        points = np.vstack((rim, [[0.0, 0.0, length / 2]]))
        spec.add_mesh(name=name, uservert=points.ravel())
    return name


def _look(visual: SdfElement) -> dict[str, Any]:
    """Return the colour of a visual, nothing where it has none of its own."""
    look: dict[str, Any] = {'contype': 0, 'conaffinity': 0}
    transparency = visual.number('transparency', 0.0)
    material = visual.first('material')
    if material is None:
        return look
    script = material.value('script/name').rpartition('/')[2].lower()
    for tag in ('diffuse', 'ambient'):
        element = material.first(tag)
        if element is not None and (text := (element.text or '').strip()):
            values = element.parsed(text, 3, 4).tolist()
            rgba = np.clip([*values, 1.0][:4], 0.0, 1.0)
            break
    else:
        if script not in _SCRIPTED:
            return look
        rgba = np.array([*_SCRIPTED[script], 1.0])
    rgba[3] *= 1.0 - min(max(transparency, 0.0), 1.0)
    return {**look, 'rgba': rgba}


def _size(shape: SdfElement, name: str, default: float) -> float:
    value = shape.number(name, default)
    if value <= 0.0:
        raise shape.failure(f'<{name}> is {value:g}; it must be more than 0')
    return value


def _box(shape: SdfElement, moves: bool) -> dict[str, Any]:
    size = shape.numbers('size', [1.0, 1.0, 1.0])
    if not (size > 0.0).all():
        raise shape.failure(f'<size> {size} must be more than 0')
    return {'type': _GEOM.mjGEOM_BOX, 'size': size / 2}


def _sphere(shape: SdfElement, moves: bool) -> dict[str, Any]:
    return {'type': _GEOM.mjGEOM_SPHERE, 'size': [_size(shape, 'radius', 1.0), 0, 0]}


def _cylinder(shape: SdfElement, moves: bool) -> dict[str, Any]:
    size = [_size(shape, 'radius', 1.0), _size(shape, 'length', 1.0) / 2, 0]
    return {'type': _GEOM.mjGEOM_CYLINDER, 'size': size}


def _capsule(shape: SdfElement, moves: bool) -> dict[str, Any]:
    size = [_size(shape, 'radius', 0.5), _size(shape, 'length', 1.0) / 2, 0]
    return {'type': _GEOM.mjGEOM_CAPSULE, 'size': size}


def _ellipsoid(shape: SdfElement, moves: bool) -> dict[str, Any]:
    radii = shape.numbers('radii', [1.0, 1.0, 1.0])
    if not (radii > 0.0).all():
        raise shape.failure(f'<radii> {radii} must be more than 0')
    return {'type': _GEOM.mjGEOM_ELLIPSOID, 'size': radii}


def _plane(shape: SdfElement, moves: bool) -> dict[str, Any]:
    """Return a plane; on something that moves, a thin box below it."""
    size = shape.numbers('size', [0.0, 0.0]) / 2
    if not moves:
        return {'type': _GEOM.mjGEOM_PLANE, 'size': [*size, 0.1]}
    size = np.where(size > 0.0, size, _EXTENT)
    return {'type': _GEOM.mjGEOM_BOX, 'size': [*size, _FLAT]}


def _normal(plane: SdfElement) -> Quaternion:
    """Return the rotation that turns z into the normal of a plane."""
    normal = plane.numbers('normal', [0.0, 0.0, 1.0])
    length = float(np.linalg.norm(normal))
    if length < 1e-9:
        raise plane.failure('the <normal> has no direction')
    quat = np.empty(4)
    mujoco.mju_quatZ2Vec(quat, normal / length)
    return wxyz_to_xyzw(quat.tolist())


_SHAPES: dict[str, Callable[[SdfElement, bool], dict[str, Any]]] = {
    'box': _box,
    'sphere': _sphere,
    'cylinder': _cylinder,
    'capsule': _capsule,
    'ellipsoid': _ellipsoid,
    'plane': _plane,
}


@dataclass(frozen=True, slots=True)
class Inertial:
    """
    Mass and inertia of a link.

    :ivar mass: kg; `centre` of it in the frame of the link, m.
    :ivar tensor: about the centre, along the axes of the link's frame, kg m^2, shape (3, 3).
    """

    mass: float
    centre: np.ndarray
    tensor: np.ndarray

    def put(self, body: mujoco.MjsBody) -> None:
        """Give it to the body of the link."""
        sizes, axes = np.linalg.eigh(self.tensor)
        if np.linalg.det(axes) < 0:
            axes[:, 0] *= -1
        quat = np.empty(4)
        mujoco.mju_mat2Quat(quat, axes.ravel())
        body.explicitinertial = True
        body.mass, body.ipos, body.iquat = self.mass, self.centre, quat
        body.inertia = physical_inertia(sizes, self.mass)
