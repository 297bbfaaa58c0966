# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Frames of cameras that belong to no robot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from urlab_ros_bridge.ros.convert.frame_tree import enumeration
from urlab_ros_bridge.ros.convert.frame_tree import pose_in_world
from urlab_ros_bridge.ros.convert.frame_tree import StaticTransform
from urlab_ros_bridge.ros.convert.frames import CAMERA_TO_OPTICAL
from urlab_ros_bridge.ros.convert.frames import compose
from urlab_ros_bridge.ros.convert.frames import wxyz_to_xyzw


def scene_camera_transforms(
    model: Any, frames: Mapping[str, str], world_frame: str
) -> list[StaticTransform]:
    """
    Return where the optical frames of cameras are in the world.

    Cameras that move, or follow something, have no fixed place and are left out.

    :param model: mujoco.MjModel.
    :param frames: compiled name of a camera -> its optical frame.
    """
    fixed = int(enumeration(model, 'mjtCamLight').mjCAMLIGHT_FIXED)
    found = []
    for index in range(model.ncam):
        frame = frames.get(model.camera(index).name)
        body = int(model.cam_bodyid[index])
        if frame is None or model.cam_mode[index] != fixed or not _stands(model, body):
            continue
        pose = compose(
            *pose_in_world(model, body),
            model.cam_pos[index].tolist(),
            wxyz_to_xyzw(model.cam_quat[index].tolist()),
        )
        pose = compose(*pose, (0.0, 0.0, 0.0), CAMERA_TO_OPTICAL)
        found.append(StaticTransform(world_frame, frame, *pose))
    return found


def _stands(model: Any, body: int) -> bool:
    while body:
        if model.body_dofnum[body] or model.body_mocapid[body] >= 0:
            return False
        body = int(model.body_parentid[body])
    return True


__all__ = ['scene_camera_transforms']
