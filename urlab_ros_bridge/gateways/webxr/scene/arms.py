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
from urlab_ros_bridge.gateways.webxr.scene.axes import y_up
from urlab_ros_bridge.gateways.webxr.scene.axes import y_up_quaternions
from urlab_ros_bridge.gateways.webxr.scene.chains import ArmChain
from urlab_ros_bridge.gateways.webxr.scene.chains import CenterlinePoint
from urlab_ros_bridge.gateways.webxr.scene.frame import SceneFrame
from urlab_ros_bridge.geometry import multiply
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import quaternion_of_matrix

# 10 micrometres, and 1e-5 of a direction: more digits would only be longer messages.
DIGITS = 5
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
    :ivar centerline: n + 1 points; `lengths` of the n elements between.
    :ivar directors: for each element the rows normal, binormal and tangent.
    :ivar contacts: points where it touches something.
    """

    base_position: Numbers
    base_rotation: Numbers
    tip_position: Numbers
    tip_rotation: Numbers
    centerline: list[Numbers]
    lengths: Numbers
    directors: list[list[Numbers]]
    contacts: list[Numbers]


class ArmShapes:
    """
    Computes the shapes of all arms of a world at once.

    Most elements are rigid: both ends and the directors are fixed to one body.  So of each node
    four vectors are turned with its body: normal, binormal and tangent of the element that begins
    there, and the node itself.  Where something slides, they follow from both ends of the element.
    """

    def __init__(self, world: WorldModel, arms: Sequence[ArmChain]) -> None:
        """Read which bodies carry the nodes, and choose the normals: parallel along each arm."""
        self._arms = tuple(arms)
        nodes = [node for arm in arms for node in arm.nodes]
        self._bodies = np.array([node.body for node in nodes], np.intp)
        self._frames = np.zeros((len(nodes), 4, 3))
        self._frames[:, _PLACE] = np.array([node.place for node in nodes]).reshape(-1, 3)
        starts = np.cumsum([0, *(len(arm.nodes) for arm in arms)]).tolist()
        self._lines = [slice(*ends) for ends in itertools.pairwise(starts)]
        self._lengths = [0.0] * len(nodes)
        loose: list[int] = []
        for arm, line in zip(self._arms, self._lines, strict=True):
            self._fix(world, arm, line, loose)
        self._loose = np.array(loose, np.intp)
        lasts = np.array([line.stop - 2 for line in self._lines], np.intp)
        # Of the bodies that carry the arms and of the last elements: whose rotations are theirs.
        parents = np.array([arm.parent for arm in arms], np.intp)
        self._turned = np.concatenate((parents, self._bodies[lasts]))
        as_it_is = y_up_quaternions(np.eye(4)).T
        turns = [as_it_is] * len(arms)
        turns += [_tip_turn_to(directors) for directors in self._frames[lasts, _DIRECTORS]]
        self._turns = np.array(turns).reshape(-1, 4, 4)
        self._loose_tips = np.flatnonzero(np.isin(lasts, loose)).tolist()
        self._arm_of_body = np.full(len(world.bodies), -1)
        for index, arm in enumerate(arms):
            self._arm_of_body[list(arm.bodies)] = index
        self._is_of_arm = self._arm_of_body >= 0

    def at(self, frame: SceneFrame) -> list[ArmShape]:
        """Return the shape of each arm; a small array costs numpy as much as a large one."""
        if not self._arms:
            return []
        found = self._frames @ frame.body_axes[self._bodies].transpose(0, 2, 1)
        found[:, _PLACE] += frame.body_positions[self._bodies]
        lengths = self._lengths
        if len(self._loose):
            lengths = self._stretch(found)
        rows = y_up(found).round(DIGITS).tolist()
        turns = self._turns @ frame.body_quaternions.take(self._turned, 0)[:, :, None]
        turned = turns[:, :, 0].round(DIGITS).tolist()
        for arm in self._loose_tips:
            turned[len(self._arms) + arm] = _tip_turn(rows[self._lines[arm].stop - 2])
        touched = self._contacts(frame)
        shapes = []
        for line, contacts, base, tip in zip(
            self._lines, touched, turned, turned[len(self._arms) :], strict=False
        ):
            first, end = line.start, line.stop
            centerline = [row[_PLACE] for row in rows[line]]
            directors = [row[_DIRECTORS] for row in rows[first : end - 1]]
            shapes.append(
                ArmShape(
                    centerline[0],
                    base,
                    centerline[-1],
                    tip,
                    centerline,
                    lengths[first : end - 1],
                    directors,
                    contacts,
                )
            )
        return shapes

    def _contacts(self, frame: SceneFrame) -> list[list[Numbers]]:
        """Return where each arm touches something."""
        points, bodies = frame.find_contacts(self._is_of_arm)
        if not len(points):
            return [[] for _ in self._arms]
        owners = self._arm_of_body[bodies]
        # What an arm does to itself is not a contact with the world.
        owners[owners[:, 0] == owners[:, 1]] = -1
        points = y_up(points).round(DIGITS)
        return [points[(owners == index).any(axis=1)].tolist() for index in range(len(self._arms))]

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
        self._lengths[elements] = lengths.round(DIGITS).tolist()
        for index, ends in enumerate(itertools.pairwise(arm.nodes)):
            if not _is_rigid(world, *ends):
                loose.append(line.start + index)

    def _stretch(self, found: np.ndarray) -> list[float]:
        """Turn elements that are not rigid to where their ends are; return all lengths."""
        loose = self._loose
        tangents, lengths = _tangents(found[loose + 1, _PLACE] - found[loose, _PLACE])
        found[loose, _DIRECTORS] = _frames(tangents, found[loose, 0])
        every = list(self._lengths)
        for node, length in zip(loose.tolist(), lengths.round(DIGITS).tolist(), strict=True):
            every[node] = length
        return every


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


def _tip_turn(row: list[Numbers]) -> Numbers:
    """Return the rotation of an element by its directors in the world: these are its columns."""
    matrix = np.array(row[_DIRECTORS]).T
    return [round(part, DIGITS) for part in quaternion_of_matrix(matrix)]


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
