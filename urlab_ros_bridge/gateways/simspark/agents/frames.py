# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The axes of agents.

Body axes are those of the Nao: x to the right, y forward, z up.  Vision uses the axes of the head,
x forward, y to the left, z up, as MuJoCo's robots do (REP-103).
"""

from __future__ import annotations

import numpy as np

from urlab_ros_bridge.gateways.simspark.world.scene import SimSparkScene
from urlab_ros_bridge.gateways.simulation.robot import ActuatedRobot
from urlab_ros_bridge.geometry import matrix_of


def to_body_axes(vectors: np.ndarray) -> np.ndarray:
    """
    Turn vectors from x forward, y left to x right, y forward.

    >>> to_body_axes(np.array([1.0, 2.0, 3.0]))
    array([-2.,  1.,  3.])
    """
    turned = np.empty_like(vectors)
    turned[..., 0] = -vectors[..., 1]
    turned[..., 1] = vectors[..., 0]
    turned[..., 2] = vectors[..., 2]
    return turned


def polar(points: np.ndarray) -> np.ndarray:
    """
    Return distance (m), angle to the left and angle up (degrees) of points, shape (n, 3).

    >>> polar(np.array([[0.0, 2.0, 0.0]]))
    array([[ 2., 90.,  0.]])
    """
    flat = np.hypot(points[:, 0], points[:, 1])
    found = np.empty_like(points)
    found[:, 0] = np.hypot(flat, points[:, 2])
    found[:, 1] = np.degrees(np.arctan2(points[:, 1], points[:, 0]))
    found[:, 2] = np.degrees(np.arctan2(points[:, 2], flat))
    return found


class FixedFrame:
    """
    A frame that moves with a body.

    :ivar body: id of the body.
    :param position: m, and `rotation`, in the frame of the body.
    """

    def __init__(self, body: int, position: np.ndarray, rotation: np.ndarray) -> None:
        self.body = body
        self._position = position
        self._rotation = rotation

    def position(self, scene: SimSparkScene) -> np.ndarray:
        """Return the origin in the world, m, shape (3,)."""
        where: np.ndarray = scene.positions[self.body] + (
            scene.rotations[self.body] @ self._position
        )
        return where

    def axes(self, scene: SimSparkScene) -> np.ndarray:
        """Return the rotation matrix, frame to world, shape (3, 3)."""
        axes: np.ndarray = scene.rotations[self.body] @ self._rotation
        return axes


def site_frame(robot: ActuatedRobot, name: str) -> FixedFrame | None:
    """Return the frame of a site by its local name, None without it."""
    site = robot.sites.get(name)
    if site is None:
        return None
    return FixedFrame(site.body, np.array(site.pose.position), matrix_of(site.pose.orientation))


def body_frame(body: int) -> FixedFrame:
    """Return the frame of a body by its id."""
    return FixedFrame(body, np.zeros(3), np.eye(3))


__all__ = ['FixedFrame', 'body_frame', 'polar', 'site_frame', 'to_body_axes']
