# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The landmarks of the field: flags, goal posts and lines."""

from __future__ import annotations

from itertools import pairwise
import math

import numpy as np

from urlab_ros_bridge.gateways.simspark.game.rules import Rules
from urlab_ros_bridge.gateways.simspark.world.scene import SimSparkScene

PENALTY_LENGTH = 1.8
# On both sides of the goal together.
PENALTY_WIDTH = 3.9
# Agents see the centre circle as a decagon.
RING = 10


class Landmarks:
    """
    Static landmarks, in the world: m.

    :ivar names: of the flags and posts; `points` where they are, shape (n, 3).
    :ivar lines: both ends of each line, shape (m, 2, 3): 11 straight ones, 10 of the circle.
    """

    def __init__(self, rules: Rules, *, there: bool = True) -> None:
        """
        Compute them.

        :param there: False: a world without a field.
        """
        x, y, post = rules.half_length, rules.half_width, rules.goal_width / 2
        high = rules.goal_height
        places = {
            'F1L': (-x, y, 0.0), 'F2L': (-x, -y, 0.0), 'F1R': (x, y, 0.0), 'F2R': (x, -y, 0.0),
            'G1L': (-x, post, high), 'G2L': (-x, -post, high),
            'G1R': (x, post, high), 'G2R': (x, -post, high),
        }  # fmt: skip
        self.names = list(places)
        self.points = np.array(list(places.values()))
        inner, side = x - PENALTY_LENGTH, post + PENALTY_WIDTH / 2
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
        if not there:
            self.names, self.points, self.lines = [], np.zeros((0, 3)), np.zeros((0, 2, 3))


def has_field(scene: SimSparkScene) -> bool:
    """Return whether a world declares itself a field, by the number ``field_length``."""
    return 'field_length' in scene.numerics()


__all__ = ['PENALTY_LENGTH', 'PENALTY_WIDTH', 'RING', 'Landmarks', 'has_field']
