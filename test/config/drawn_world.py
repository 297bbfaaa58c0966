# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A world built from published messages alone, as a viewer builds it, and rays through it."""

from __future__ import annotations

import mujoco
import numpy as np


def matrix(position, quaternion):
    """Return a 4x4 transform; the quaternion is xyzw."""
    found, turn = np.eye(4), np.zeros(9)
    mujoco.mju_quat2Mat(turn, np.roll(np.asarray(quaternion, float), 1))
    found[:3, :3], found[:3, 3] = turn.reshape(3, 3), position
    return found


def of_message(transform):
    """Return a geometry_msgs Transform or Pose as a 4x4 transform."""
    place = getattr(transform, 'translation', None) or transform.position
    turn = getattr(transform, 'rotation', None) or transform.orientation
    return matrix((place.x, place.y, place.z), (turn.x, turn.y, turn.z, turn.w))


def distances(model, data, eye, axes, fovy, shape=(48, 64)):
    """
    Return how far rays of a camera go, shape `shape`, -1 where nothing is.

    :param axes: rows are the camera's right, up and backward in the world; `fovy` in degrees.
    """
    rows, columns = shape
    top = np.tan(np.radians(fovy) / 2)
    right, up = np.meshgrid(
        np.linspace(-top, top, columns) * columns / rows, np.linspace(top, -top, rows)
    )
    rays = np.stack([right, up, -np.ones(shape)], axis=-1).reshape(-1, 3) @ axes
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    groups = np.array([1, 1, 1, 0, 0, 0], np.uint8)
    found, hit = np.zeros(len(rays)), np.zeros(len(rays), np.int32)
    mujoco.mj_multiRay(
        model, data, eye, rays.ravel(), groups, 1, -1, hit, found, None, len(rays), 100.0
    )
    return found.reshape(shape)
