# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The shapes of all arms at one moment: centerlines, frames along them, contact points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from urlab_ros_bridge.client.model import WorldModel
from urlab_ros_bridge.gateways.webxr.scene.axes import crossed
from urlab_ros_bridge.gateways.webxr.scene.axes import rotated
from urlab_ros_bridge.gateways.webxr.scene.axes import y_up
from urlab_ros_bridge.gateways.webxr.scene.axes import y_up_quaternions
from urlab_ros_bridge.gateways.webxr.scene.chains import ArmChain
from urlab_ros_bridge.gateways.webxr.scene.frame import SceneFrame
from urlab_ros_bridge.geometry import quaternion_of_matrix

_SHORTEST = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class ArmShape:
    """
    One arm at one moment; metres, world with y up.

    :ivar base_position, base_rotation: of the body that it stands on, x y z w; the position is the
        first node.
    :ivar tip_position, tip_rotation: the last node, and the frame of the last element.
    :ivar centerline: shape (n + 1, 3); `lengths` of the n elements between, shape (n,).
    :ivar directors: shape (n, 3, 3): for each element the rows normal, binormal and tangent.
    :ivar contacts: where it touches something, shape (k, 3).
    """

    base_position: np.ndarray
    base_rotation: np.ndarray
    tip_position: np.ndarray
    tip_rotation: tuple[float, float, float, float]
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
        self._places = np.array([n.place for arm in arms for n in arm.nodes]).reshape(-1, 3)
        sizes = [len(arm.nodes) for arm in arms]
        self._starts = np.cumsum([0, *sizes])
        # An element goes from its node to the next; none goes from the last node of an arm.
        ends = set((self._starts[1:] - 1).tolist())
        self._from = np.array([i for i in range(len(self._bodies)) if i not in ends], np.intp)
        self._parents = np.array([arm.parent for arm in arms], np.intp)
        self._arm_of_body = np.full(len(world.bodies), -1)
        for index, arm in enumerate(arms):
            self._arm_of_body[list(arm.bodies)] = index
        self._normals = self._choose_normals(world)

    def at(self, frame: SceneFrame) -> list[ArmShape]:
        """Return the shape of each arm."""
        if not self._arms:
            return []
        quaternions = frame.body_quaternions
        turns = quaternions[self._bodies]
        nodes = y_up(frame.body_positions[self._bodies] + rotated(turns, self._places))
        tangents, lengths = _tangents(nodes[self._from + 1] - nodes[self._from])
        normals = y_up(rotated(turns[self._from], self._normals))
        directors = _frames(tangents, normals)
        bases = y_up_quaternions(quaternions[self._parents])
        points, owners = self._contacts(frame)
        shapes = []
        for index in range(len(self._arms)):
            start, end = self._starts[index], self._starts[index + 1]
            elements = slice(start - index, end - index - 1)  # one less than nodes in each arm
            line, frames = nodes[start:end], directors[elements]
            shapes.append(
                ArmShape(
                    line[0],
                    bases[index],
                    line[-1],
                    quaternion_of_matrix(frames[-1].T),
                    line,
                    lengths[elements],
                    frames,
                    points[(owners == index).any(axis=1)],
                )
            )
        return shapes

    def _contacts(self, frame: SceneFrame) -> tuple[np.ndarray, np.ndarray]:
        """Return points with y up, and of each the arms of both sides; -1 is none."""
        owners = self._arm_of_body[frame.contact_bodies]
        # What an arm does to itself is not a contact with the world.
        return y_up(frame.contacts), np.where(owners[:, :1] == owners[:, 1:], -1, owners)

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
    lengths = np.linalg.norm(steps, axis=1)
    return steps / np.maximum(lengths, _SHORTEST)[:, None], lengths


def _frames(tangents: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """Return rows normal, binormal, tangent for each element, shape (n, 3, 3)."""
    normals = normals - (normals * tangents).sum(axis=1, keepdims=True) * tangents
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = normals / np.maximum(lengths, _SHORTEST)
    if (lengths < 1e-6).any():  # along its tangent: any other direction across will do
        spare = crossed(tangents, np.eye(3)[np.abs(tangents).argmin(axis=1)])
        spare /= np.maximum(np.linalg.norm(spare, axis=1, keepdims=True), _SHORTEST)
        normals = np.where(lengths < 1e-6, spare, normals)
    return np.stack((normals, crossed(tangents, normals), tangents), axis=1)


__all__ = ['ArmShape', 'ArmShapes']
