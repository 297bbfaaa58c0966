# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The shapes of all arms at one moment: centerlines, frames along them, contact points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import itertools

import numpy as np

from urlab_ros_bridge.client.model import WorldModel
from urlab_ros_bridge.gateways.webxr.scene.axes import crossed
from urlab_ros_bridge.gateways.webxr.scene.axes import rotated
from urlab_ros_bridge.gateways.webxr.scene.axes import y_up
from urlab_ros_bridge.gateways.webxr.scene.axes import y_up_quaternions
from urlab_ros_bridge.gateways.webxr.scene.chains import ArmChain
from urlab_ros_bridge.gateways.webxr.scene.frame import SceneFrame
from urlab_ros_bridge.geometry import quaternion_of_matrix

# 10 micrometres, and 1e-5 of a direction: more digits would only be longer messages.
DIGITS = 5
_SHORTEST = 1e-9
_NOWHERE = np.zeros((0, 3))


@dataclass(frozen=True, slots=True, eq=False)
class ArmShape:
    """
    One arm at one moment; metres, world with y up, five digits.

    :ivar base_position, base_rotation: of the body that carries it, x y z w; the position is the
        first node.
    :ivar tip_position, tip_rotation: the last node, and the frame of the last element.
    :ivar centerline: shape (n + 1, 3); `lengths` of the n elements between, shape (n,).
    :ivar directors: shape (n, 3, 3): for each element the rows normal, binormal and tangent.
    :ivar contacts: where it touches something, shape (k, 3).
    """

    base_position: np.ndarray
    base_rotation: np.ndarray
    tip_position: np.ndarray
    tip_rotation: np.ndarray
    centerline: np.ndarray
    lengths: np.ndarray
    directors: np.ndarray
    contacts: np.ndarray


class ArmShapes:
    """Computes the shapes of all arms of a world at once."""

    def __init__(self, world: WorldModel, arms: Sequence[ArmChain]) -> None:
        """Read which bodies carry the nodes, and choose the normals: parallel along each arm."""
        self._arms = tuple(arms)
        self._bodies = np.array([n.body for arm in arms for n in arm.nodes], np.intp)
        self._places = np.array([n.place for arm in arms for n in arm.nodes]).reshape(-1, 3, 1)
        starts = np.cumsum([0, *(len(arm.nodes) for arm in arms)]).tolist()
        self._lines = [slice(*ends) for ends in itertools.pairwise(starts)]
        # An element goes from its node to the next; none goes from the last node of an arm, so
        # there is one less than nodes in each arm.
        self._elements = [
            slice(line.start - index, line.stop - index - 1)
            for index, line in enumerate(self._lines)
        ]
        ends = {line.stop - 1 for line in self._lines}
        self._from = np.array([i for i in range(len(self._bodies)) if i not in ends], np.intp)
        self._carriers = self._bodies[self._from]
        self._parents = np.array([arm.parent for arm in arms], np.intp)
        self._arm_of_body = np.full(len(world.bodies), -1)
        for index, arm in enumerate(arms):
            self._arm_of_body[list(arm.bodies)] = index
        self._is_of_arm = self._arm_of_body >= 0
        self._normals = self._choose_normals(world)[:, :, None]

    def at(self, frame: SceneFrame) -> list[ArmShape]:
        """Return the shape of each arm; a small array costs numpy as much as a large one."""
        if not self._arms:
            return []
        axes = frame.body_axes
        nodes = (axes[self._bodies] @ self._places)[:, :, 0] + frame.body_positions[self._bodies]
        tangents, lengths = _tangents(nodes[self._from + 1] - nodes[self._from])
        normals = (axes[self._carriers] @ self._normals)[:, :, 0]
        directors = y_up(_frames(tangents, normals))
        tips = [quaternion_of_matrix(directors[part.stop - 1].T) for part in self._elements]
        lines, directors, lengths = (
            y_up(nodes).round(DIGITS),
            directors.round(DIGITS),
            lengths.round(DIGITS),
        )
        bases = y_up_quaternions(frame.body_quaternions[self._parents]).round(DIGITS)
        touched = self._contacts(frame)
        return [
            ArmShape(
                lines[nodes.start],
                bases[index],
                lines[nodes.stop - 1],
                np.round(tips[index], DIGITS),
                lines[nodes],
                lengths[elements],
                directors[elements],
                touched[index],
            )
            for index, (nodes, elements) in enumerate(
                zip(self._lines, self._elements, strict=True)
            )
        ]

    def _contacts(self, frame: SceneFrame) -> list[np.ndarray]:
        """Return where each arm touches something."""
        points, bodies = frame.find_contacts(self._is_of_arm)
        if not len(points):
            return [_NOWHERE] * len(self._arms)
        owners = self._arm_of_body[bodies]
        # What an arm does to itself is not a contact with the world.
        owners[owners[:, 0] == owners[:, 1]] = -1
        points = y_up(points).round(DIGITS)
        return [points[(owners == index).any(axis=1)] for index in range(len(self._arms))]

    def _choose_normals(self, world: WorldModel) -> np.ndarray:
        """Return the normal of each element in its body, shape (elements, 3)."""
        normals = []
        for arm in self._arms:
            poses = [world.reference_pose(node.body) for node in arm.nodes]
            turns = np.array([_wxyz(pose.orientation) for pose in poses])
            places = np.array([node.place for node in arm.nodes])
            nodes = np.array([pose.position for pose in poses]) + rotated(turns, places)
            tangents, _ = _tangents(np.diff(nodes, axis=0))
            normal = np.eye(3)[np.abs(tangents[0]).argmin()]
            for tangent, turn in zip(tangents, turns[:-1], strict=True):
                normal = normal - (normal @ tangent) * tangent
                if np.linalg.norm(normal) < 0.1:  # a bend of nearly a right angle
                    normal = np.eye(3)[np.abs(tangent).argmin()]
                    normal = normal - (normal @ tangent) * tangent
                normal = normal / np.linalg.norm(normal)
                normals.append(rotated(turn * [1, -1, -1, -1], normal))
        return np.array(normals).reshape(-1, 3)


def _wxyz(xyzw: Sequence[float]) -> tuple[float, float, float, float]:
    x, y, z, w = xyzw
    return w, x, y, z


def _tangents(steps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    lengths = np.sqrt(np.einsum('ij,ij->i', steps, steps))
    return steps / np.maximum(lengths, _SHORTEST)[:, None], lengths


def _frames(tangents: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """Return rows normal, binormal, tangent for each element, shape (n, 3, 3)."""
    normals = normals - np.einsum('ij,ij->i', normals, tangents)[:, None] * tangents
    normals, lengths = _tangents(normals)
    if lengths.min() < 1e-6:  # along its tangent: any other direction across will do
        spare, _ = _tangents(crossed(tangents, np.eye(3)[np.abs(tangents).argmin(axis=1)]))
        normals = np.where(lengths[:, None] < 1e-6, spare, normals)
    found = np.empty((len(tangents), 3, 3))
    found[:, 0], found[:, 1], found[:, 2] = normals, crossed(tangents, normals), tangents
    return found


__all__ = ['DIGITS', 'ArmShape', 'ArmShapes']
