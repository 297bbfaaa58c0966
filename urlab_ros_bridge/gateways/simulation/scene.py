# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Poses of bodies, sites and cameras of one observation, by forward kinematics."""

from __future__ import annotations

import numpy as np

from urlab_ros_bridge.client.model.kinematics import LocalModel
from urlab_ros_bridge.gateways.simulation.robot import FrameName
from urlab_ros_bridge.geometry import matrix_of
from urlab_ros_bridge.geometry import wxyz_to_xyzw

# MuJoCo's cameras look along -z with y up, OpenCV's along z with y down.
OPENCV = np.diag([1.0, -1.0, -1.0])


class MirroredScene(LocalModel):
    """
    The scene of one simulation step, with cameras in OpenCV axes.

    Not thread-safe: one for each thread that uses it.
    """

    @property
    def qpos(self) -> np.ndarray:
        """Return the positions of the whole model, shape (nq,)."""
        qpos: np.ndarray = self.data.qpos
        return qpos

    def body_poses(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return copies of positions, quaternions w x y z and matrices of all bodies, by id."""
        data = self.data
        return data.xpos.copy(), data.xquat.copy(), data.xmat.reshape(-1, 3, 3).copy()

    def pose(self, kind: str, name: str) -> tuple[np.ndarray, np.ndarray]:
        """
        Return world position, shape (3,), and rotation matrix.

        :param kind: ``body`` or ``site``; `name` is the compiled one.
        """
        read = self.site_pose if kind == 'site' else self.body_pose
        position, quat = read(name)
        return np.asarray(position), matrix_of(wxyz_to_xyzw(quat.tolist()))

    def camera_matrix(self, name: str, reference: FrameName | None) -> np.ndarray:
        """
        Return the camera-to-reference transform, shape (4, 4), OpenCV axes.

        :param name: compiled name of the camera.
        :param reference: None is the world.
        """
        position, quat = self.camera_pose(name)
        rotation = matrix_of(wxyz_to_xyzw(quat.tolist())) @ OPENCV
        matrix = np.eye(4)
        if reference is not None:
            origin, axes = self.pose(*reference)
            rotation, position = axes.T @ rotation, axes.T @ (np.asarray(position) - origin)
        matrix[:3, :3] = rotation
        matrix[:3, 3] = position
        return matrix


def intrinsics(width: int, height: int, fovy: float) -> np.ndarray:
    """
    Return K of a symmetric pinhole camera, shape (3, 3), with integer pixel centres.

    :param fovy: vertical field of view in degrees.

    >>> intrinsics(4, 2, 90.0)
    array([[1. , 0. , 1.5],
           [0. , 1. , 0.5],
           [0. , 0. , 1. ]])
    """
    focal = height / 2 / np.tan(np.radians(fovy) / 2)
    return np.array(
        [[focal, 0.0, (width - 1) / 2], [0.0, focal, (height - 1) / 2], [0.0, 0.0, 1.0]]
    ).round(12)
