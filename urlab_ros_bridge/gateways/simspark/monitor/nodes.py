# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Nodes of a scene graph and their text (page, "Scene Graph Contents").

There are no base nodes: SimSpark sends none, and RoboViz loses their children.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field

import numpy as np

from urlab_ros_bridge.geometry import matrix_of
from urlab_ros_bridge.geometry import Pose

# Columns of the matrix one after the other: n, o, a, translation.
_SLT = '(SLT %g %g %g 0 %g %g %g 0 %g %g %g 0 %g %g %g 1)'

# Of transforms: 0.1 mm, 0.006 degrees.
_DECIMALS = 4

Rgba = tuple[float, float, float, float]


@dataclass(slots=True)
class SceneNode:
    """
    One node.

    :ivar kind: ``TRF``, ``SMN``, ``StaticMesh`` or ``Light``.
    :ivar details: text after the kind in a full message; a transform has none.
    :ivar body: id of the body whose world pose a transform has, -1: a constant one.
    :ivar local: pose of a moving transform in its body; None: that of the body itself.
    :ivar values: twelve numbers of a constant transform.
    :ivar marks: key that switches a mesh on and off, '' for a constant one.
    """

    kind: str
    details: str = ''
    children: list[SceneNode] = field(default_factory=list)
    body: int = -1
    local: Pose | None = None
    values: tuple[float, ...] = ()
    marks: str = ''


def local_transform(values: tuple[float, ...] | list[float]) -> str:
    """Return the text of a transform from its twelve numbers."""
    return _SLT % tuple(values)


def fixed(pose: Pose, *children: SceneNode) -> SceneNode:
    """Return a constant transform."""
    numbers = (*matrix_of(pose.orientation).T.ravel().tolist(), *pose.position)
    return SceneNode('TRF', children=list(children), values=tuple(_exact(n) for n in numbers))


def moving(body: int, *children: SceneNode, local: Pose | None = None) -> SceneNode:
    """Return the transform of a body of the world, or of a pose in it."""
    return SceneNode('TRF', children=list(children), body=body, local=local)


def light(diffuse: Rgba, ambient: Rgba, specular: Rgba) -> SceneNode:
    """Return a light; the page calls its colours direction and scale."""
    named = (('setDiffuse', diffuse), ('setAmbient', ambient), ('setSpecular', specular))
    return SceneNode('Light', ' '.join(f'({name} {_numbers(*color)})' for name, color in named))


def mesh_file(
    path: str,
    scale: float | tuple[float, float, float],
    *materials: str,
    visible: bool = True,
    marks: str = '',
) -> SceneNode:
    """Return a mesh from a file of the viewer."""
    size = _numbers(*scale) if isinstance(scale, tuple) else _numbers(scale, scale, scale)
    details = f'(load {path}) (sSc {size})(resetMaterials {" ".join(materials)})'
    return SceneNode('StaticMesh', _visibility(visible) + details, marks=marks)


def primitive(
    shape: str,
    scale: tuple[float, float, float],
    material: str,
    rgba: Rgba | None = None,
    *,
    visible: bool = True,
    marks: str = '',
) -> SceneNode:
    """
    Return a standard primitive: ``StdUnitBox``, ``StdUnitSphere`` or ``StdUnitCylinder 1 1``.

    :param scale: m: edges of a box, radii of a sphere, two radii and the length of a cylinder.
    :param material: for viewers that do not know `rgba`.
    :param rgba: RoboViz's extension.
    """
    details = _visibility(visible)
    if rgba is not None and rgba[3] < 1:
        details += '(setTransparent) '
    details += f'(load {shape}) (sSc {_numbers(*scale)}) (sMat {material})'
    if rgba is not None:
        details += f' (rgba {_numbers(*rgba)})'
    return SceneNode('SMN', details, marks=marks)


def transforms_of(positions: np.ndarray, rotations: np.ndarray) -> np.ndarray:
    """
    Return the twelve numbers of the transforms of bodies, shape (n, 12).

    :param positions: m, shape (n, 3); `rotations` body to world, shape (n, 3, 3).
    """
    columns = rotations.transpose(0, 2, 1).reshape(-1, 9)
    values = np.concatenate((columns, positions), axis=1)
    if not np.isfinite(values).all():
        values = np.nan_to_num(values)
    return np.round(values, _DECIMALS) + 0.0  # shorter to write, and not -0


def _visibility(visible: bool) -> str:
    # Without it RoboViz shows no mesh at all.
    return f'(setVisible {int(visible)}) '


def _numbers(*values: float) -> str:
    return ' '.join(f'{value:g}' for value in values)


def _exact(value: float, tiny: float = 1e-12) -> float:
    """Return a number without the rounding error of a rotation's sines."""
    return 0.0 if abs(value) < tiny else value


__all__ = [
    'Rgba',
    'SceneNode',
    'fixed',
    'light',
    'local_transform',
    'mesh_file',
    'moving',
    'primitive',
    'transforms_of',
]  # fmt: skip
