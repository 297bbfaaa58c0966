# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The shapes of all arms at one time: centerlines, frames along them, contact points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import itertools
import math

import numpy as np

from urlab_ros_bridge.gateways.virtual_field.scene.axes import crossed
from urlab_ros_bridge.gateways.virtual_field.scene.axes import DIGITS
from urlab_ros_bridge.gateways.virtual_field.scene.axes import rotated
from urlab_ros_bridge.gateways.virtual_field.scene.axes import y_up
from urlab_ros_bridge.gateways.virtual_field.scene.axes import y_up_quaternions
from urlab_ros_bridge.gateways.virtual_field.scene.chains import ArmChain
from urlab_ros_bridge.gateways.virtual_field.scene.chains import CenterlinePoint
from urlab_ros_bridge.gateways.virtual_field.scene.frame import SceneFrame
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import quaternion_of_matrix
from urlab_ros_bridge.geometry import xyzw_to_wxyz
from urlab_ros_bridge.model import WorldModel
from urlab_ros_bridge.model.elements import BALL
from urlab_ros_bridge.model.elements import HINGE

_SHORTEST = 1e-9
# Joints nearer to a node than this turn in it (m).
_IN_PLACE = 1e-6

Numbers = list[float]


@dataclass(slots=True, eq=False)
class ArmShape:
    """
    One arm at one time; metres, world with y up, five digits.

    :ivar base_position, base_rotation: of the body that carries it, x y z w; the position is the
        first node.
    :ivar tip_position, tip_rotation: the last node, and the frame of the last element.
    :ivar centerline: shape (n + 1, 3); `lengths` of the n elements between.
    :ivar directors: shape (n, 3, 3), for each element the rows normal, binormal and tangent.
    :ivar contacts: points where it touches something.
    """

    base_position: np.ndarray
    base_rotation: np.ndarray
    tip_position: np.ndarray
    tip_rotation: np.ndarray
    centerline: np.ndarray
    lengths: np.ndarray
    directors: np.ndarray
    contacts: list[Numbers]


class ArmShapes:
    """
    Computes the shapes of all arms of a world at once.

    Most elements are rigid: both ends and the directors are fixed to one body.  So nodes are
    points of bodies, and normal, binormal and tangent of the element that begins there turn with
    that body.  Where something slides, they follow from both ends of the element.
    """

    def __init__(self, world: WorldModel, arms: Sequence[ArmChain]) -> None:
        """Read which bodies carry the nodes, and choose the normals: parallel along each arm."""
        self._arms = tuple(arms)
        nodes = [node for arm in arms for node in arm.nodes]
        self._bodies = np.array([node.body for node in nodes], np.intp)
        self._places = np.array([node.place for node in nodes]).reshape(-1, 3)
        starts = np.cumsum([0, *(len(arm.nodes) for arm in arms)]).tolist()
        self._lines = [slice(*ends) for ends in itertools.pairwise(starts)]
        # One for each node, though no element begins at the last node of an arm.
        self._frames, self._lengths = np.zeros((len(nodes), 3, 3)), np.zeros(len(nodes))
        loose: list[int] = []
        for arm, line in zip(arms, self._lines, strict=True):
            elements = slice(line.start, line.stop - 1)
            self._frames[elements], self._lengths[elements] = _fixed_frames(world, arm)
            loose += (line.start + index for index in _loose_elements(world, arm))
        self._loose = np.array(loose, np.intp)
        self._arm_of_body = np.full(len(world.bodies), -1)
        for index, arm in enumerate(arms):
            self._arm_of_body[list(arm.bodies)] = index
        self._is_of_arm = self._arm_of_body >= 0

    def at(self, frame: SceneFrame) -> list[ArmShape]:
        """Return the shape of each arm; for the thread that made the frame."""
        if not self._arms:
            return []
        turns = frame.body_matrices[self._bodies]
        points = y_up(
            frame.body_positions[self._bodies] + np.einsum('nij,nj->ni', turns, self._places)
        )
        directors = y_up(np.einsum('nij,nkj->nki', turns, self._frames))
        lengths, loose = self._lengths, self._loose
        if len(loose):
            tangents, distances = _tangents(points[loose + 1] - points[loose])
            directors[loose] = _frames(tangents, directors[loose, 0])
            lengths = lengths.copy()
            lengths[loose] = distances
        contacts = self._contacts(*frame.find_contacts(self._is_of_arm))
        shapes = []
        for arm, line, touched in zip(self._arms, self._lines, contacts, strict=True):
            elements = slice(line.start, line.stop - 1)
            # The directors of an element are the columns of its rotation.
            tip = quaternion_of_matrix(directors[line.stop - 2].T)
            shapes.append(
                ArmShape(
                    points[line.start].round(DIGITS),
                    y_up_quaternions(frame.body_quaternions[arm.parent]).round(DIGITS),
                    points[line.stop - 1].round(DIGITS),
                    np.array(tip).round(DIGITS),
                    points[line].round(DIGITS),
                    lengths[elements].round(DIGITS),
                    directors[elements].round(DIGITS),
                    touched,
                )
            )
        return shapes

    def _contacts(self, points: np.ndarray, bodies: np.ndarray) -> list[list[Numbers]]:
        """Return where each arm touches something."""
        if not len(points):
            return [[] for _ in self._arms]
        owners = self._arm_of_body[bodies]
        # What an arm does to itself is not a contact with the world.
        owners[owners[:, 0] == owners[:, 1]] = -1
        points = y_up(points).round(DIGITS)
        return [points[(owners == index).any(axis=1)].tolist() for index in range(len(self._arms))]


def _fixed_frames(world: WorldModel, arm: ArmChain) -> tuple[np.ndarray, np.ndarray]:
    """Return directors of each element in the body where it begins, and rounded lengths."""
    poses = [world.reference_pose(node.body) for node in arm.nodes]
    turns = np.array([xyzw_to_wxyz(pose.orientation) for pose in poses])
    places = np.array([pose.position for pose in poses]) + rotated(
        turns, np.array([node.place for node in arm.nodes])
    )
    tangents, lengths = _tangents(np.diff(places, axis=0))
    normals = []
    normal = np.eye(3)[np.abs(tangents[0]).argmin()]
    for tangent in tangents:
        normal = normal - (normal @ tangent) * tangent
        if np.linalg.norm(normal) < 0.1:  # a bend of nearly a right angle
            normal = np.eye(3)[np.abs(tangent).argmin()]
            normal = normal - (normal @ tangent) * tangent
        normal = normal / np.linalg.norm(normal)
        normals.append(normal)
    back = (turns[:-1] * [1, -1, -1, -1])[:, None]
    return rotated(back, _frames(tangents, np.array(normals))), lengths.round(DIGITS)


def _loose_elements(world: WorldModel, arm: ArmChain) -> list[int]:
    """Return which elements are not rigid."""
    ends = enumerate(itertools.pairwise(arm.nodes))
    return [index for index, both in ends if not _is_rigid(world, *both)]


def _is_rigid(world: WorldModel, first: CenterlinePoint, last: CenterlinePoint) -> bool:
    """Return whether the end of an element is fixed to the body of its beginning."""
    end = world.reference_pose(last.body).then(Pose(last.place)).position
    body = last.body
    while body != first.body:
        for joint in world.joints_of(body):
            anchor = world.reference_pose(body).then(Pose(joint.anchor)).position
            if joint.kind not in (HINGE, BALL) or math.dist(anchor, end) > _IN_PLACE:
                return False
        if body == 0:
            return False
        body = world.bodies[body].parent
    return True


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


__all__ = ['ArmShape', 'ArmShapes']
