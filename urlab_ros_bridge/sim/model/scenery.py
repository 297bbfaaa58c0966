# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Objects and lights of a world description, added to the spec of its scene; mesh files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import mujoco
import numpy as np

from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.model.mjcf_import import compile_spec
from urlab_ros_bridge.sim.model.mjcf_import import ModelFiles
from urlab_ros_bridge.sim.model.mjcf_import import OPERATOR
from urlab_ros_bridge.sim.model.sidecar.specs import LightSpec
from urlab_ros_bridge.sim.model.sidecar.specs import ObjectSpec

# A light of this intensity (stock plugin's default) gives its colour in full.
FULL_INTENSITY = 5000.0
SPOT_CUTOFF = 44.0  # degrees, the stock plugin's outer cone
_PLANE_GRID = 1.0  # m, spacing of the lines that a plane is drawn with
_VISUAL_GROUP = 2  # drawn by default, apart from collision geoms (3 and up are hidden)

_LIGHT_TYPES = {
    'directional': mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
    'point': mujoco.mjtLightType.mjLIGHT_POINT,
    'spot': mujoco.mjtLightType.mjLIGHT_SPOT,
}


def add_scenery(
    spec: mujoco.MjSpec,
    objects: Iterable[ObjectSpec],
    lights: Iterable[LightSpec],
    files: ModelFiles = OPERATOR,
) -> None:
    """
    Add bodies and lights to the world of `spec`, under their names.

    :raises WorldError: when a shape cannot be built, or a name is taken by the scene.
    """
    for item in objects:
        if spec.body(item.name) is not None:
            raise WorldError(f'the scene has a body {item.name!r} already')
        _add_object(spec, item, files)
    for light in lights:
        if spec.light(light.name) is not None:
            raise WorldError(f'the scene has a light {light.name!r} already')
        _add_light(spec, light)


def _add_object(spec: mujoco.MjSpec, item: ObjectSpec, files: ModelFiles) -> None:
    body = spec.worldbody.add_body(name=item.name, pos=item.pos, quat=item.quat)
    if item.physics == 'dynamic':
        body.add_freejoint(name=f'{item.name}_free')
    body.mocap = item.physics == 'mocap'
    if item.file is not None:
        _add_mesh(spec, body, item, files.mesh(item.file))
    else:
        kind, size = shape_size(item)
        geom = body.add_geom(name=item.name, type=kind, size=size, rgba=item.color)
        _set_physics([geom], item)


def shape_size(item: ObjectSpec) -> tuple[mujoco.mjtGeom, list[float]]:
    """
    Return MuJoCo's type and half sizes of a primitive: 1 m across at scale 1.

    :raises WorldError: for a cylinder that is not round.
    """
    x, y, z = (part / 2 for part in item.scale)
    if item.shape == 'box':
        return mujoco.mjtGeom.mjGEOM_BOX, [x, y, z]
    if item.shape == 'plane':
        return mujoco.mjtGeom.mjGEOM_PLANE, [x, y, _PLANE_GRID]
    if item.shape == 'sphere':
        if x == y == z:
            return mujoco.mjtGeom.mjGEOM_SPHERE, [x, 0.0, 0.0]
        return mujoco.mjtGeom.mjGEOM_ELLIPSOID, [x, y, z]
    if not np.isclose(x, y):
        raise WorldError(
            f'{item.name!r}: a cylinder needs equal x and y, not a scale of {item.scale}'
        )
    return mujoco.mjtGeom.mjGEOM_CYLINDER, [x, z, 0.0]


def _add_mesh(spec: mujoco.MjSpec, body: mujoco.MjsBody, item: ObjectSpec, file: Path) -> None:
    kind = mujoco.mjtMeshInertia
    # A thin mesh has no volume; only dynamic objects need one.
    inertia = (
        kind.mjMESH_INERTIA_CONVEX if item.physics == 'dynamic' else kind.mjMESH_INERTIA_SHELL
    )
    if not item.complex_mesh:
        spec.add_mesh(name=item.name, file=str(file), scale=item.scale, inertia=inertia)
        names = [item.name]
    else:
        names = []
        for index, (vertices, faces) in enumerate(connected_parts(*read_mesh(file))):
            names.append(f'{item.name}.{index}')
            spec.add_mesh(
                name=names[-1],
                uservert=vertices.ravel().tolist(),
                userface=faces.ravel().tolist(),
                scale=item.scale,
                inertia=inertia,
            )
    geoms = [
        body.add_geom(name=name, type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, rgba=item.color)
        for name in names
    ]
    _set_physics(geoms, item)


def _set_physics(geoms: list[mujoco.MjsGeom], item: ObjectSpec) -> None:
    for geom in geoms:
        if item.physics == 'none':
            geom.contype = geom.conaffinity = 0
            geom.group = _VISUAL_GROUP
        geom.friction = item.friction
        geom.density = item.density
        if item.mass is not None:
            geom.mass = item.mass / len(geoms)


def _add_light(spec: mujoco.MjSpec, light: LightSpec) -> None:
    direction = np.empty(3)
    mujoco.mju_rotVecQuat(direction, np.array([1.0, 0.0, 0.0]), np.asarray(light.quat, float))
    strength = min(light.intensity / FULL_INTENSITY, 1.0)
    spec.worldbody.add_light(
        name=light.name,
        type=_LIGHT_TYPES[light.kind],
        pos=light.pos,
        dir=direction,
        diffuse=[strength * part for part in light.color],
        specular=[0.3 * strength * part for part in light.color],
        cutoff=SPOT_CUTOFF,
        castshadow=light.kind != 'point',
    )


def add_free_camera(scene: mujoco.MjSpec, name: str) -> None:
    """Add a camera that belongs to no body; `_` is appended to its name where that is taken."""
    while scene.camera(name) is not None:
        name += '_'
    scene.worldbody.add_camera(name=name, mode=mujoco.mjtCamLight.mjCAMLIGHT_TRACK)


MAX_PARTS = 64


def read_mesh(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """
    Read a mesh as MuJoCo does.

    :return: vertices, shape (n, 3), as the file has them, and triangles, shape (m, 3), as indices.
    :raises WorldError: with MuJoCo's own message.
    """
    spec = mujoco.MjSpec()
    # As a shell any mesh has an inertia; a volume may be missing.
    spec.add_mesh(name='mesh', file=str(path), inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL)
    body = spec.worldbody.add_body()
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname='mesh')
    model = compile_spec(spec, f'mesh {str(path)!r}')
    # The compiler has moved the vertices into the mesh's inertial frame.
    turn = np.empty(9)
    mujoco.mju_quat2Mat(turn, model.mesh_quat[0])
    vertices = model.mesh_vert.astype(float) @ turn.reshape(3, 3).T + model.mesh_pos[0]
    return vertices, model.mesh_face.copy()


def connected_parts(
    vertices: np.ndarray, faces: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    """
    Split a mesh, arrays as from `read_mesh`, into parts that share no vertex.

    :raises WorldError: when there are more than 64 parts.
    """
    labels = _labels(len(vertices), faces)
    used = labels[faces[:, 0]]
    names = np.unique(used)
    if len(names) > MAX_PARTS:
        raise WorldError(
            f'the mesh has {len(names)} connected parts, at most {MAX_PARTS} are used'
        )
    parts = []
    for name in names:
        own = faces[used == name]
        kept, renumbered = np.unique(own, return_inverse=True)
        parts.append((vertices[kept], renumbered.reshape(own.shape)))
    return parts


def _labels(count: int, faces: np.ndarray) -> np.ndarray:
    """Return for every vertex the smallest index of a vertex that it is connected to."""
    labels = np.arange(count)
    while True:
        lowest = labels[faces].min(axis=1)
        spread = labels.copy()
        for corner in range(3):
            np.minimum.at(spread, faces[:, corner], lowest)
        # A label is itself a vertex: following it shortens long chains.
        spread = np.minimum(spread, spread[spread])
        if np.array_equal(spread, labels):
            return labels
        labels = spread
