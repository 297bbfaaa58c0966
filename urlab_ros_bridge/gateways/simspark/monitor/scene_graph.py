# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The nodes of a scene graph, written in full or as changes since an earlier state."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from dataclasses import field

import numpy as np

from urlab_ros_bridge.geometry import AT_ORIGIN
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


# A transform is sent again when one of its numbers differs by more (m, or of a unit vector).
THRESHOLD = 0.005
# One that has come to rest is sent once more, so that no such error remains.
_REST = 1e-5
_EXACT = 1.5e-4


@dataclass(frozen=True, slots=True, eq=False)
class SeenGraph:
    """
    The state of a scene graph that viewers have received.

    :ivar values: of the transforms that may change, shape (n, 12).
    :ivar marks: keys of the meshes that are switched on.
    """

    values: np.ndarray
    marks: frozenset[str]


class SceneGraph:
    """
    The nodes of one world; their structure never changes.

    The text is split once where numbers may change; a message joins the parts.
    """

    def __init__(self, top: Iterable[SceneNode]) -> None:
        self._bodies: list[int] = []
        self._locals: list[Pose] = []
        self._marks: list[str] = []
        self._slots: list[int] = []  # of the transforms in `_full` and `_diff`
        self._gaps: list[str] = []  # before a changed transform
        self._mark_slots: list[int] = []
        self._full: list[str] = ['']
        self._diff: list[str] = ['']
        for node in top:
            self._add(node)
        self._no_changes = ''.join(self._diff).encode('ascii')
        self._ids = np.array(self._bodies, np.intp)
        self._offsets = np.array([pose.position for pose in self._locals]).reshape(-1, 3)
        self._turns = np.array([matrix_of(pose.orientation) for pose in self._locals])
        self._turns = self._turns.reshape(-1, 3, 3)
        self._now = np.zeros((len(self._bodies), 12))
        self._before = self._now

    @property
    def bodies(self) -> list[int]:
        """Return the ids of the bodies whose transforms are written, in order."""
        return list(self._bodies)

    def update(self, positions: np.ndarray, rotations: np.ndarray) -> None:
        """
        Update the poses of all bodies of the world.

        :param positions: m, shape (nbody, 3); `rotations` body to world, shape (nbody, 3, 3).
        """
        self._before = self._now
        axes = rotations[self._ids]
        with np.errstate(invalid='ignore'):  # of a world that has diverged
            places = positions[self._ids] + np.einsum('nij,nj->ni', axes, self._offsets)
            self._now = transforms_of(places, axes @ self._turns)

    def seen(
        self, before: SeenGraph | None = None, marks: AbstractSet[str] = frozenset()
    ) -> SeenGraph:
        """
        Return the state to send now.

        :param before: earlier state; transforms that differ by less than `THRESHOLD` from it keep
            its values.
        :param marks: keys of the meshes to switch on.
        """
        on = frozenset(marks) & set(self._marks)
        if before is None:
            return SeenGraph(self._now, on)
        changed = self._changed(before.values)
        if not len(changed):
            return SeenGraph(before.values, on)
        values = before.values.copy()
        values[changed] = self._now[changed]
        return SeenGraph(values, on)

    def full(self, seen: SeenGraph) -> bytes:
        """Return all nodes of a state."""
        parts = self._full.copy()
        for slot, values in zip(self._slots, seen.values.tolist(), strict=True):
            parts[slot] = local_transform(values)
        for slot, mark in zip(self._mark_slots, self._marks, strict=True):
            parts[slot] = f'(setVisible {int(mark in seen.marks)}) '
        return ''.join(parts).encode('ascii')

    def changes(self, before: SeenGraph, after: SeenGraph) -> bytes:
        """Return empty nodes with the differences between two states."""
        if after.values is before.values and after.marks == before.marks:
            return self._no_changes
        parts = self._diff.copy()
        if after.values is not before.values:
            changed = np.flatnonzero((after.values != before.values).any(axis=1))
            slots, gaps = self._slots, self._gaps
            for index, row in zip(changed.tolist(), after.values[changed].tolist(), strict=True):
                parts[slots[index]] = gaps[index] + local_transform(row)
        if after.marks != before.marks:
            for slot, mark in zip(self._mark_slots, self._marks, strict=True):
                if (mark in after.marks) != (mark in before.marks):
                    parts[slot] = f' (setVisible {int(mark in after.marks)})'
        return ''.join(parts).encode('ascii')

    def _changed(self, known: np.ndarray) -> np.ndarray:
        """Return the indices of the transforms to send."""
        if not len(known):
            return np.zeros(0, np.intp)
        off = np.abs(self._now - known)
        if off.max() <= _EXACT:  # as in most frames of a world at rest
            return np.zeros(0, np.intp)
        off = off.max(axis=1)
        moved = np.abs(self._now - self._before).max(axis=1)
        return np.flatnonzero((off > THRESHOLD) | ((off > _EXACT) & (moved < _REST)))

    def _add(self, node: SceneNode) -> None:
        """Write a node and its children."""
        if node.kind == 'TRF':
            gap = '' if node.children else ' '
            self._text('(nd TRF ', '(nd ' if node.children else '(nd')
            if node.body >= 0:
                self._slots.append(len(self._full))
                self._gaps.append(gap)
                self._bodies.append(node.body)
                self._locals.append(node.local or AT_ORIGIN)
                self._cut('', '')
            else:
                self._text(local_transform(node.values), '')
            for child in node.children:
                self._add(child)
            self._text(')', ')')
            return
        changes = '(nd' if node.kind == 'Light' else f'(nd {node.kind}'
        self._text(f'(nd {node.kind} ', changes)
        details = node.details
        if node.marks:
            hidden = '(setVisible 0) '
            details = details.removeprefix(hidden)
            self._mark_slots.append(len(self._full))
            self._marks.append(node.marks)
            self._cut(hidden, '')
        self._text(f'{details})', ')')

    def _text(self, full: str, diff: str) -> None:
        self._full[-1] += full
        self._diff[-1] += diff

    def _cut(self, full: str, diff: str) -> None:
        self._full += [full, '']
        self._diff += [diff, '']


__all__ = [
    'THRESHOLD',
    'Rgba',
    'SceneGraph',
    'SceneNode',
    'SeenGraph',
    'fixed',
    'light',
    'local_transform',
    'mesh_file',
    'moving',
    'primitive',
    'transforms_of',
]
