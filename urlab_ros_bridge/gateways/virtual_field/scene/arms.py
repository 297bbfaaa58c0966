# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The shapes of all arms at one moment: centerlines, frames along them, contact points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import itertools
import math
from typing import Any

import numpy as np

from urlab_ros_bridge.client.model import WorldModel
from urlab_ros_bridge.client.model.elements import BALL
from urlab_ros_bridge.client.model.elements import HINGE
from urlab_ros_bridge.gateways.virtual_field.scene.axes import crossed
from urlab_ros_bridge.gateways.virtual_field.scene.axes import rotated
from urlab_ros_bridge.gateways.virtual_field.scene.axes import y_up
from urlab_ros_bridge.gateways.virtual_field.scene.axes import Y_UP_TURN
from urlab_ros_bridge.gateways.virtual_field.scene.chains import ArmChain
from urlab_ros_bridge.gateways.virtual_field.scene.chains import CenterlinePoint
from urlab_ros_bridge.gateways.virtual_field.scene.frame import SceneFrame
from urlab_ros_bridge.gateways.virtual_field.scene.message_template import open_rows
from urlab_ros_bridge.gateways.virtual_field.scene.pose_numbers import DIGITS
from urlab_ros_bridge.gateways.virtual_field.scene.pose_numbers import PoseNumbers
from urlab_ros_bridge.geometry import multiply
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import quaternion_of_matrix

_SHORTEST = 1e-9
# Joints nearer to a node than this turn in it (m).
_IN_PLACE = 1e-6
# Quaternions x y z w, in the order w x y z.
_BASIS = ((0.0, 0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0))

Numbers = list[float]


@dataclass(slots=True, eq=False)
class ArmShape:
    """
    One arm at one moment; metres, world with y up, five digits.

    :ivar base_position, base_rotation: of the body that carries it, x y z w; the position is the
        first node.
    :ivar tip_position, tip_rotation: the last node, and the frame of the last element.
    :ivar centerline: shape (n + 1, 3); `lengths` of the n elements between.
    :ivar directors: shape (n, 3, 3), for each element the rows normal, binormal and tangent.
    :ivar contacts: points where it touches something.
    :ivar json: all but the contacts, as a message has it: rows that change are left open.
    """

    base_position: np.ndarray
    base_rotation: np.ndarray
    tip_position: np.ndarray
    tip_rotation: np.ndarray
    centerline: np.ndarray
    lengths: np.ndarray
    directors: np.ndarray
    contacts: list[Numbers]
    json: dict[str, Any]


class ArmShapes:
    """
    Computes the shapes of all arms of a world at once.

    Most elements are rigid: both ends and the directors are fixed to one body.  So nodes are
    points of bodies, and normal, binormal and tangent of the element that begins there turn with
    that body.  Where something slides, they follow from both ends of the element.
    """

    def __init__(
        self, world: WorldModel, arms: Sequence[ArmChain], numbers: PoseNumbers | None = None
    ) -> None:
        """
        Read which bodies carry the nodes, and choose the normals: parallel along each arm.

        :param numbers: to which those of the shapes are added; None: they are by themselves.
        """
        self._arms = tuple(arms)
        self._numbers = numbers = numbers or PoseNumbers(len(world.bodies))
        nodes = [node for arm in arms for node in arm.nodes]
        bodies = np.array([node.body for node in nodes], np.intp)
        starts = np.cumsum([0, *(len(arm.nodes) for arm in arms)]).tolist()
        self._lines = [slice(*ends) for ends in itertools.pairwise(starts)]
        frames, lengths = np.zeros((len(nodes), 3, 3)), np.zeros(len(nodes))
        loose: list[int] = []
        for arm, line in zip(arms, self._lines, strict=True):
            elements = slice(line.start, line.stop - 1)
            frames[elements], lengths[elements] = _fixed_frames(world, arm)
            loose += (line.start + index for index in _loose_elements(world, arm))
        self._fixed_lengths = lengths
        self._loose = np.array(loose, np.intp)
        self._points = numbers.add_points(bodies, np.array([node.place for node in nodes]))
        # Three for each node, though none begins at the last one.
        self._directors = numbers.add_directions(np.repeat(bodies, 3), frames.reshape(-1, 3))
        lasts = np.array([line.stop - 2 for line in self._lines], np.intp)
        parents = np.array([arm.parent for arm in arms], np.intp)
        self._bases = numbers.add_turns(parents, np.tile(Y_UP_TURN, (len(arms), 1, 1)))
        tips = np.array([_tip_turn_to(directors) for directors in frames[lasts]])
        self._tips = numbers.add_turns(bodies[lasts], tips)
        self._loose_tips = np.flatnonzero(np.isin(lasts, loose)).tolist()
        self._lengths = [
            numbers.add_free(line.stop - line.start - 1)
            if any(line.start <= element < line.stop for element in loose)
            else None
            for line in self._lines
        ]
        if loose:
            numbers.mend(self._stretch)
        self._arm_of_body = np.full(len(world.bodies), -1)
        for index, arm in enumerate(arms):
            self._arm_of_body[list(arm.bodies)] = index
        self._is_of_arm = self._arm_of_body >= 0
        self._shapes: list[ArmShape] = []
        self._touch = False

    def at(self, frame: SceneFrame) -> list[ArmShape]:
        """Return the shape of each arm; they are the same objects for each frame."""
        if not self._arms:
            return []
        self._numbers.follow(frame)
        shapes = self._shapes = self._shapes or self._make()
        points, bodies = frame.find_contacts(self._is_of_arm)
        if len(points) or self._touch:
            self._touch = bool(len(points))
            for shape, contacts in zip(shapes, self._contacts(points, bodies), strict=True):
                shape.contacts = contacts
        return shapes

    def _make(self) -> list[ArmShape]:
        """Return shapes of arrays into which each frame is written."""
        numbers = self._numbers
        points, bases, tips = map(numbers.array, (self._points, self._bases, self._tips))
        directors = numbers.array(self._directors)
        texts = (self._points, self._bases, self._tips, self._directors)
        point_rows, base_rows, tip_rows, director_rows = map(open_rows, texts)
        shapes = []
        for index, (line, part) in enumerate(zip(self._lines, self._lengths, strict=True)):
            first, last = line.start, line.stop - 1
            lengths = self._fixed_lengths[first:last]
            length_row: Any = lengths.tolist()
            if part is not None:
                (lengths,), (length_row,) = numbers.array(part), open_rows(part)
            json = {
                'base': {'translation': point_rows[first], 'rotation_xyzw': base_rows[index]},
                'tip': {'translation': point_rows[last], 'rotation_xyzw': tip_rows[index]},
                'centerline': point_rows[line],
                'radii': self._arms[index].radii,
                'element_lengths': length_row,
                'directors': [
                    director_rows[3 * element : 3 * element + 3] for element in range(first, last)
                ],
            }
            shapes.append(
                ArmShape(
                    points[first],
                    bases[index],
                    points[last],
                    tips[index],
                    points[line],
                    lengths,
                    directors[3 * first : 3 * last].reshape(-1, 3, 3),
                    [],
                    json,
                )
            )
        return shapes

    def _contacts(self, points: np.ndarray, bodies: np.ndarray) -> list[list[Numbers]]:
        """Return where each arm touches something."""
        owners = self._arm_of_body[bodies]
        # What an arm does to itself is not a contact with the world.
        owners[owners[:, 0] == owners[:, 1]] = -1
        points = y_up(points).round(DIGITS)
        return [points[(owners == index).any(axis=1)].tolist() for index in range(len(self._arms))]

    def _stretch(self) -> None:
        """Turn elements that are not rigid to where their ends are."""
        loose, numbers = self._loose, self._numbers
        points, tips = numbers.array(self._points), numbers.array(self._tips)
        directors = numbers.array(self._directors)
        tangents, lengths = _tangents(points[loose + 1] - points[loose])
        frames = _frames(tangents, directors[3 * loose])
        directors[3 * loose[:, None] + np.arange(3)] = frames
        every = self._fixed_lengths.copy()
        every[loose] = lengths
        for line, part in zip(self._lines, self._lengths, strict=True):
            if part is not None:
                numbers.array(part)[0] = every[line.start : line.stop - 1]
        for arm in self._loose_tips:
            # The directors of an element are the columns of its rotation.
            last = 3 * (self._lines[arm].stop - 2)
            tips[arm] = quaternion_of_matrix(directors[last : last + 3].T)


def _fixed_frames(world: WorldModel, arm: ArmChain) -> tuple[np.ndarray, np.ndarray]:
    """Return directors of each element in the body where it begins, and rounded lengths."""
    poses = [world.reference_pose(node.body) for node in arm.nodes]
    turns = np.array([_wxyz(pose.orientation) for pose in poses])
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


def _tip_turn_to(directors: np.ndarray) -> np.ndarray:
    """
    Return what makes of a body's rotation that of an element which is fixed to it, shape (4, 4).

    :param directors: of the element in the frame of the body, as rows.
    :returns: times w x y z of the body, it is x y z w of the element, in the world with y up.
    """
    # From the left comes the turn of that world, from the right that of the element.
    left = quaternion_of_matrix(y_up(np.eye(3)).T)
    right = quaternion_of_matrix(directors.T)
    return np.array([multiply(left, multiply(one, right)) for one in _BASIS]).T


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


__all__ = ['ArmShape', 'ArmShapes']
