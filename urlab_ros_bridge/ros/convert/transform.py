# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Transforms on /tf and /tf_static."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
from typing import Any

from geometry_msgs.msg import Quaternion
from geometry_msgs.msg import Transform
from geometry_msgs.msg import TransformStamped
from geometry_msgs.msg import Vector3
import numpy as np

from urlab_ros_bridge.ros.cdr import Template
from urlab_ros_bridge.ros.compat import load_interface
from urlab_ros_bridge.ros.compat import TF_MESSAGE
from urlab_ros_bridge.ros.convert.base import header_to_ros
from urlab_ros_bridge.ros.convert.base import MessageTemplate
from urlab_ros_bridge.ros.convert.base import Values
from urlab_ros_bridge.ros.convert.errors import WrongLength
from urlab_ros_bridge.ros.convert.frames import floats
from urlab_ros_bridge.ros.convert.frames import normalize
from urlab_ros_bridge.wire.stamp import NANOSECONDS

_IDENTITY_POSE = (0.0,) * 6 + (1.0,)

# Rows of position (m) and quaternion xyzw: an array of shape (n, 7), or n sequences of 7 floats.
Poses = np.ndarray | Sequence[Values]


def transform_to_ros(
    stamp_ns: int, parent: str, child: str, position: Values, orientation: Values
) -> TransformStamped:
    """
    Return the pose of `child` in `parent`.

    :param position: shape (3,), m.
    :param orientation: shape (4,), quaternion xyzw; it is normalised.
    """
    x, y, z = floats(position, 3)
    qx, qy, qz, qw = normalize(floats(orientation, 4))
    return TransformStamped(
        header=header_to_ros(stamp_ns, parent),
        child_frame_id=child,
        transform=Transform(
            translation=Vector3(x=float(x), y=float(y), z=float(z)),
            rotation=Quaternion(x=qx, y=qy, z=qz, w=qw),
        ),
    )


def transforms_to_ros(stamp_ns: int, frames: Sequence[tuple[str, str]], poses: Poses) -> Any:
    """
    Return a tf2_msgs/TFMessage.

    :param frames: n pairs of parent and child.
    :param poses: n rows, see `Poses`.
    :raises WrongLength: when there are not n rows of 7.
    :raises InterfaceMissing: without tf2_msgs.
    """
    if len(frames) != len(poses):
        raise WrongLength(len(frames), len(poses))
    rows = [floats(row, 7) for row in poses]
    return load_interface(TF_MESSAGE)(
        transforms=[
            transform_to_ros(stamp_ns, parent, child, row[:3], row[3:])
            for (parent, child), row in zip(frames, rows, strict=True)
        ]
    )


def static_transforms_to_ros(
    transforms: Iterable[tuple[str, str, Values, Values]], stamp_ns: int = 0
) -> Any:
    """
    Return a tf2_msgs/TFMessage for /tf_static.

    :param transforms: parent, child, position (m), quaternion xyzw of each.
    :raises InterfaceMissing: without tf2_msgs.
    """
    return load_interface(TF_MESSAGE)(
        transforms=[transform_to_ros(stamp_ns, *transform) for transform in transforms]
    )


class TFTemplate(MessageTemplate):
    """tf2_msgs/TFMessage of a fixed set of frames."""

    def __init__(self, frames: Sequence[tuple[str, str]]) -> None:
        """
        Fix the frames.

        :param frames: pairs of parent and child.
        :raises InterfaceMissing: without tf2_msgs.
        """
        self._frames = tuple(frames)
        super().__init__(self.message(0, [_IDENTITY_POSE] * len(self._frames)))

    def _bind(self, template: Template) -> None:
        paths = [f'transforms[{index}]' for index in range(len(self._frames))]
        self._writers = [
            (template.writer(f'{path}.header.stamp'), template.writer(f'{path}.transform'))
            for path in paths
        ]

    def message(self, stamp_ns: int, poses: Poses) -> Any:
        return transforms_to_ros(stamp_ns, self._frames, poses)

    def update(self, stamp_ns: int, poses: Poses) -> bytes:
        rows = poses.tolist() if isinstance(poses, np.ndarray) else poses
        if len(rows) != len(self._writers):
            raise WrongLength(len(self._writers), len(rows))
        sec, nanosec = divmod(stamp_ns, NANOSECONDS)
        for (write_stamp, write_pose), row in zip(self._writers, rows, strict=True):
            x, y, z, qx, qy, qz, qw = floats(row, 7)
            write_stamp(sec, nanosec)
            write_pose(x, y, z, *normalize((qx, qy, qz, qw)))
        return self._to_bytes()
