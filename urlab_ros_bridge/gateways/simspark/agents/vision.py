# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What a player sees: landmarks, lines, the ball and other players in a cone before its head.

There is no occlusion, as in SimSpark.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
import math
from zlib import crc32

import numpy as np

from urlab_ros_bridge.gateways.simspark.agents.frames import body_frame
from urlab_ros_bridge.gateways.simspark.agents.frames import FixedFrame
from urlab_ros_bridge.gateways.simspark.agents.frames import polar
from urlab_ros_bridge.gateways.simspark.agents.frames import site_frame
from urlab_ros_bridge.gateways.simspark.game.rules import Rules
from urlab_ros_bridge.gateways.simspark.world.scene import SimSparkScene
from urlab_ros_bridge.gateways.simulation.robot import ActuatedRobot
from urlab_ros_bridge.geometry import matrix_of

# Agents see the centre circle as a decagon.
RING = 10
# Half the cone, degrees; what is nearer than NEAREST (m) is not seen.
HALF_CONE = 60.0
NEAREST = 0.1
# Shorter pieces of lines are not seen, m.
_SHORTEST = 1e-3
# Of SimSpark's restricted vision: a constant error of each axis (m, at most), and standard
# deviations of distance (share) and of the angles to the left and up (degrees).
CALIBRATION = 0.005
SPREAD = np.array([0.000965, 0.1225, 0.148])

# Part of a player -> local names of its site or body; the first that a robot has counts.
PARTS = {
    'head': ('vision', 'head', 'camera_link'),
    'rlowerarm': ('rforearm', 'rlowerarm'),
    'llowerarm': ('lforearm', 'llowerarm'),
    'rfoot': ('rf', 'rfoot'),
    'lfoot': ('lf', 'lfoot'),
}
# MuJoCo's cameras look along -z with y up: their axes as columns x forward, y left, z up.
_CAMERA = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]])

_POL = '(pol %.3f %.3f %.3f)'
_OWN_UNSEEN = ('head',)
_SLOPE = math.tan(math.radians(HALF_CONE))
# Normals that point into the cone.
_PLANES = np.array([
    [_SLOPE, 1.0, 0.0], [_SLOPE, -1.0, 0.0], [_SLOPE, 0.0, 1.0], [_SLOPE, 0.0, -1.0],
])  # fmt: skip


class Landmarks:
    """
    Static landmarks, in the world: m.

    :ivar names: of the flags and posts; `points` their positions, shape (n, 3).
    :ivar lines: both ends of each line, shape (m, 2, 3): 11 straight ones, 10 of the circle.
    """

    def __init__(self, rules: Rules | None = None) -> None:
        """
        Compute them.

        :param rules: None: a world without a field.
        """
        self.names: list[str] = []
        self.points, self.lines = np.zeros((0, 3)), np.zeros((0, 2, 3))
        if rules is None:
            return
        x, y, post = rules.half_length, rules.half_width, rules.goal_width / 2
        high = rules.goal_height
        places = {
            'F1L': (-x, y, 0.0), 'F2L': (-x, -y, 0.0), 'F1R': (x, y, 0.0), 'F2R': (x, -y, 0.0),
            'G1L': (-x, post, high), 'G2L': (-x, -post, high),
            'G1R': (x, post, high), 'G2R': (x, -post, high),
        }  # fmt: skip
        self.names = list(places)
        self.points = np.array(list(places.values()))
        inner, side = x - rules.penalty_length, rules.penalty_half_width
        flat = [
            (-x, y, x, y), (-x, -y, x, -y), (-x, -y, -x, y), (x, -y, x, y), (0, -y, 0, y),
            (-x, side, -inner, side), (-x, -side, -inner, -side), (-inner, -side, -inner, side),
            (x, side, inner, side), (x, -side, inner, -side), (inner, -side, inner, side),
        ]  # fmt: skip
        radius = rules.free_kick_distance
        turns = [2 * math.pi * corner / RING for corner in range(RING + 1)]
        ring = [(radius * math.cos(turn), radius * math.sin(turn)) for turn in turns]
        flat += [(*here, *there) for here, there in pairwise(ring)]
        self.lines = np.zeros((len(flat), 2, 3))
        self.lines[:, :, :2] = np.array(flat).reshape(-1, 2, 2)


def eye_of(robot: ActuatedRobot) -> FixedFrame:
    """Return the frame of the eyes: the site ``vision``, the first camera, or the base."""
    eye = site_frame(robot, 'vision')
    if eye is not None:
        return eye
    for camera in robot.cameras.values():
        if camera.is_fixed:
            rotation = matrix_of(camera.pose.orientation) @ _CAMERA
            return FixedFrame(camera.body, np.array(camera.pose.position), rotation)
    return body_frame(robot.base.id)


def parts_of(robot: ActuatedRobot) -> dict[str, FixedFrame]:
    """Return the parts by which others see a robot; one without any of them is its base."""
    found: dict[str, FixedFrame] = {}
    for part, names in PARTS.items():
        for name in names:
            frame = site_frame(robot, name)
            if frame is None and name in robot.bodies:
                frame = body_frame(robot.bodies[name].id)
            if frame is not None:
                found[part] = frame
                break
    return found or {'head': body_frame(robot.base.id)}


@dataclass(frozen=True, slots=True)
class SeenPlayer:
    """
    A player as others see it.

    :ivar robot: its prefix; `label` the beginning of its entry in See; `parts` their names.
    :ivar points: positions of the parts in the world, m, shape (n, 3).
    """

    robot: str
    label: str
    parts: tuple[str, ...]
    points: np.ndarray


class VisionNoise:
    """
    The errors of one player's vision, from a seed.

    :ivar offset: constant error, m, shape (3,).
    """

    def __init__(self, seed: int, robot: str) -> None:
        self._random = np.random.default_rng([seed, crc32(robot.encode())])
        self.offset = self._random.uniform(-CALIBRATION, CALIBRATION, 3)

    def disturb(self, seen: np.ndarray) -> np.ndarray:
        """Return distances and angles with errors, shape (n, 3)."""
        spread = np.tile(SPREAD, (len(seen), 1))
        spread[:, 0] *= seen[:, 0]
        noisy: np.ndarray = seen + spread * self._random.standard_normal(seen.shape)
        return noisy


class Eye:
    """The vision of one robot."""

    def __init__(self, robot: ActuatedRobot, noise: VisionNoise | None = None) -> None:
        self._robot = robot.prefix
        self._frame = eye_of(robot)
        self._noise = noise

    def see(
        self,
        scene: SimSparkScene,
        landmarks: Landmarks,
        players: Iterable[SeenPlayer],
        more: str = '',
    ) -> str:
        """
        Return See.

        :param more: further children.
        """
        place, axes = self._frame.position(scene), self._frame.axes(scene)
        labels = list(landmarks.names)
        points = [landmarks.points]
        if scene.ball is not None:
            labels.append('B')
            points.append(scene.ball.position[None])
        single = len(labels)
        others = list(players)
        points += [player.points for player in others]
        polars, shown = self._project(np.concatenate(points), place, axes)
        rows = polars.tolist()
        texts = {i: _POL % tuple(rows[i]) for i in np.flatnonzero(shown).tolist()}
        parts = [f'({labels[i]} {texts[i]})' for i in range(single) if shown[i]]
        start = single
        for player in others:
            visible = [
                f'({name} {texts[start + i]})'
                for i, name in enumerate(player.parts)
                if shown[start + i] and (player.robot != self._robot or name not in _OWN_UNSEEN)
            ]
            start += len(player.parts)
            if visible:
                parts.append(f'({player.label} {" ".join(visible)})')
        parts += [f'(L {_POL} {_POL})' % (*a, *b) for a, b in self._lines(landmarks, place, axes)]
        if more:
            parts.append(more)
        return f'(See {" ".join(parts)})'

    def direction(self, scene: SimSparkScene, place: np.ndarray) -> float:
        """Return the angle to the left of a position, degrees."""
        local = (place - self._frame.position(scene)) @ self._frame.axes(scene)
        return math.degrees(math.atan2(local[1], local[0]))

    def position(self, scene: SimSparkScene) -> np.ndarray:
        """Return the position of the eye in the world, m, shape (3,)."""
        return self._frame.position(scene)

    def _project(
        self, points: np.ndarray, place: np.ndarray, axes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return distances and angles of points, shape (n, 3), and which are visible, (n,)."""
        seen = polar(self._calibrated((points - place) @ axes))
        shown = (np.abs(seen[:, 1:]) <= HALF_CONE).all(axis=1) & (seen[:, 0] >= NEAREST)
        return self._disturbed(seen), shown

    def _lines(
        self, landmarks: Landmarks, place: np.ndarray, axes: np.ndarray
    ) -> list[tuple[list[float], list[float]]]:
        """Return both ends of the pieces of lines in the cone."""
        ends = self._calibrated((landmarks.lines.reshape(-1, 3) - place) @ axes)
        pieces = clip_to_cone(ends.reshape(-1, 2, 3))
        if not len(pieces):
            return []
        seen = self._disturbed(polar(pieces.reshape(-1, 3))).tolist()
        return list(zip(seen[::2], seen[1::2], strict=True))

    def _calibrated(self, points: np.ndarray) -> np.ndarray:
        return points if self._noise is None else points + self._noise.offset

    def _disturbed(self, seen: np.ndarray) -> np.ndarray:
        return seen if self._noise is None else self._noise.disturb(seen)


def clip_to_cone(lines: np.ndarray) -> np.ndarray:
    """
    Cut lines at the four planes of the cone; return the pieces within, shape (k, 2, 3).

    :param lines: ends before the eye, x forward, y left, z up: shape (n, 2, 3), m.
    """
    start, way = lines[:, 0], lines[:, 1] - lines[:, 0]
    height, climb = start @ _PLANES.T, way @ _PLANES.T
    with np.errstate(divide='ignore', invalid='ignore'):
        crossing = -height / climb
    first = np.where(climb > 0, crossing, 0.0).max(axis=1, initial=0.0)
    last = np.where(climb < 0, crossing, 1.0).min(axis=1, initial=1.0)
    last[((climb == 0) & (height < 0)).any(axis=1)] = -1.0
    length = (last - first) * np.linalg.norm(way, axis=1)
    keep = length > _SHORTEST
    start, way, first, last = start[keep], way[keep], first[keep], last[keep]
    return np.stack([start + first[:, None] * way, start + last[:, None] * way], axis=1)


__all__ = [
    'HALF_CONE', 'NEAREST', 'Eye', 'Landmarks', 'SeenPlayer', 'VisionNoise', 'clip_to_cone',
    'eye_of', 'parts_of',
]  # fmt: skip
