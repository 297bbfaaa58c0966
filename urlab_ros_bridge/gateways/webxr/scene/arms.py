# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The shapes of all arms at one moment: centerlines, frames along them, contact points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import itertools
import math

import numpy as np

from urlab_ros_bridge.client.model import WorldModel
from urlab_ros_bridge.client.model.elements import BALL
from urlab_ros_bridge.client.model.elements import HINGE
from urlab_ros_bridge.gateways.webxr.scene.axes import crossed
from urlab_ros_bridge.gateways.webxr.scene.axes import rotated
from urlab_ros_bridge.gateways.webxr.scene.axes import UP
from urlab_ros_bridge.gateways.webxr.scene.axes import y_up
from urlab_ros_bridge.gateways.webxr.scene.axes import y_up_quaternions
from urlab_ros_bridge.gateways.webxr.scene.axes import y_up_slots
from urlab_ros_bridge.gateways.webxr.scene.chains import ArmChain
from urlab_ros_bridge.gateways.webxr.scene.chains import CenterlinePoint
from urlab_ros_bridge.gateways.webxr.scene.frame import SceneFrame
from urlab_ros_bridge.geometry import multiply
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import quaternion_of_matrix

# 10 micrometres, and 1e-5 of a direction: more digits would only be longer messages.
DIGITS = 5
# As numpy rounds: times this, to the nearest whole number, and back.
ROUND = 10.0**DIGITS
_SHORTEST = 1e-9
# Joints nearer to a node than this turn in it (m).
_IN_PLACE = 1e-6
# Rows of a node's frame, see `ArmShapes`.
_DIRECTORS, _PLACE = slice(3), 3
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
    :ivar is_rigid: whether its elements always have these lengths.
    :ivar contacts: points where it touches something.
    """

    base_position: np.ndarray
    base_rotation: np.ndarray
    tip_position: np.ndarray
    tip_rotation: np.ndarray
    centerline: np.ndarray
    lengths: np.ndarray
    directors: np.ndarray
    is_rigid: bool
    contacts: list[Numbers]


class ArmShapes:
    """
    Computes the shapes of all arms of a world at once.

    Most elements are rigid: both ends and the directors are fixed to one body.  So of each node
    four vectors are turned with its body: normal, binormal and tangent of the element that begins
    there, and the node itself.  Where something slides, they follow from both ends of the element.

    The arrays of the shapes are made once, and each frame is written into them.
    """

    def __init__(self, world: WorldModel, arms: Sequence[ArmChain]) -> None:
        """Read which bodies carry the nodes, and choose the normals: parallel along each arm."""
        nodes = [node for arm in arms for node in arm.nodes]
        bodies = np.array([node.body for node in nodes], np.intp)
        self._slots = y_up_slots(bodies)
        self._frames = np.zeros((len(nodes), 4, 3))
        self._frames[:, _PLACE] = np.array([node.place for node in nodes]).reshape(-1, 3)
        starts = np.cumsum([0, *(len(arm.nodes) for arm in arms)]).tolist()
        lines = [slice(*ends) for ends in itertools.pairwise(starts)]
        self._lengths = np.zeros(len(nodes))
        loose: list[int] = []
        for arm, line in zip(arms, lines, strict=True):
            self._fix(world, arm, line, loose)
        self._loose = np.array(loose, np.intp)
        lasts = np.array([line.stop - 2 for line in lines], np.intp)
        # Of the bodies that carry the arms and of the last elements: whose rotations are theirs.
        parents = np.array([arm.parent for arm in arms], np.intp)
        self._turned = np.concatenate((parents, bodies[lasts]))
        as_it_is = y_up_quaternions(np.eye(4)).T
        turns = [as_it_is] * len(arms)
        turns += [_tip_turn_to(directors) for directors in self._frames[lasts, _DIRECTORS]]
        self._turns = np.array(turns).reshape(-1, 4, 4)
        self._loose_tips = np.flatnonzero(np.isin(lasts, loose)).tolist()
        self._arm_of_body = np.full(len(world.bodies), -1)
        for index, arm in enumerate(arms):
            self._arm_of_body[list(arm.bodies)] = index
        self._is_of_arm = self._arm_of_body >= 0
        self._found = np.zeros((len(nodes), 4, 3))
        self._points = np.zeros((len(nodes), 3))
        self._directors = np.zeros((len(nodes), 3, 3))
        self._rotations = np.zeros((2 * len(arms), 4))
        self._shapes = [
            ArmShape(
                self._points[line.start],
                self._rotations[index],
                self._points[line.stop - 1],
                self._rotations[len(arms) + index],
                self._points[line],
                self._lengths[line.start : line.stop - 1],
                self._directors[line.start : line.stop - 1],
                not any(line.start <= element < line.stop for element in loose),
                [],
            )
            for index, line in enumerate(lines)
        ]

    def at(self, frame: SceneFrame) -> list[ArmShape]:
        """Return the shape of each arm; they are the same objects for each frame."""
        if not self._shapes:
            return []
        found, slots = self._found, self._slots
        axes = frame.body_axes.reshape(-1, 3).take(slots, 0)
        np.matmul(self._frames, axes.transpose(0, 2, 1), out=found)
        found[:, _PLACE] += frame.body_positions.take(slots)
        found *= UP
        if len(self._loose):
            self._stretch(found)
        found *= ROUND
        np.rint(found, out=found)
        np.divide(found[:, _DIRECTORS], ROUND, out=self._directors)
        np.divide(found[:, _PLACE], ROUND, out=self._points)
        turns = self._turns @ frame.body_quaternions.take(self._turned, 0)[:, :, None]
        turns[:, :, 0].round(DIGITS, out=self._rotations)
        count = len(self._shapes)
        for arm in self._loose_tips:
            self._rotations[count + arm] = _tip_turn(self._shapes[arm].directors[-1])
        for shape, contacts in zip(self._shapes, self._contacts(frame), strict=True):
            shape.contacts = contacts
        return self._shapes

    def _contacts(self, frame: SceneFrame) -> list[list[Numbers]]:
        """Return where each arm touches something."""
        points, bodies = frame.find_contacts(self._is_of_arm)
        if not len(points):
            return [[] for _ in self._shapes]
        owners = self._arm_of_body[bodies]
        # What an arm does to itself is not a contact with the world.
        owners[owners[:, 0] == owners[:, 1]] = -1
        points = y_up(points).round(DIGITS)
        return [
            points[(owners == index).any(axis=1)].tolist() for index in range(len(self._shapes))
        ]

    def _fix(self, world: WorldModel, arm: ArmChain, line: slice, loose: list[int]) -> None:
        """Fix directors to bodies; add the nodes at which elements begin that are not rigid."""
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
        frames = _frames(tangents, np.array(normals))
        back = (turns[:-1] * [1, -1, -1, -1])[:, None]
        elements = slice(line.start, line.stop - 1)
        self._frames[elements, _DIRECTORS] = rotated(back, frames)
        self._lengths[elements] = lengths.round(DIGITS)
        for index, ends in enumerate(itertools.pairwise(arm.nodes)):
            if not _is_rigid(world, *ends):
                loose.append(line.start + index)

    def _stretch(self, found: np.ndarray) -> None:
        """Turn elements that are not rigid to where their ends are."""
        loose = self._loose
        tangents, lengths = _tangents(found[loose + 1, _PLACE] - found[loose, _PLACE])
        found[loose, _DIRECTORS] = _frames(tangents, found[loose, 0])
        self._lengths[loose] = lengths.round(DIGITS)


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


def _tip_turn(directors: np.ndarray) -> np.ndarray:
    """Return the rotation of an element by its directors in the world: these are its columns."""
    return np.array(quaternion_of_matrix(directors.T)).round(DIGITS)


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


__all__ = ['DIGITS', 'ROUND', 'ArmShape', 'ArmShapes']
