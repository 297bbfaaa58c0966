# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A scene graph, written in full or as changes since an earlier state."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

from urlab_ros_bridge.gateways.simspark.monitor.nodes import local_transform
from urlab_ros_bridge.gateways.simspark.monitor.nodes import SceneNode
from urlab_ros_bridge.gateways.simspark.monitor.nodes import transforms_of
from urlab_ros_bridge.geometry import AT_ORIGIN
from urlab_ros_bridge.geometry import matrix_of
from urlab_ros_bridge.geometry import Pose

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


__all__ = ['THRESHOLD', 'SceneGraph', 'SeenGraph']
