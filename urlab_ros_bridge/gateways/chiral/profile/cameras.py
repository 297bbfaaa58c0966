# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The cameras that may be served with a robot: its own, and those of the scene."""

from __future__ import annotations

import numpy as np

from urlab_ros_bridge.client.replies.handshake import CameraInfo
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.gateways.simulation.robot import ActuatedRobot
from urlab_ros_bridge.model import Camera as ModelCamera
from urlab_ros_bridge.wire.errors import UnknownName

_SAME = 1e-9


class CameraTable:
    """
    Cameras by the names that a profile uses: those of the robot hide those of the scene.

    :ivar own: local name -> camera of the robot; `scene` likewise of the scene.
    """

    def __init__(self, handshake: Handshake, robot: ActuatedRobot) -> None:
        self._robot = robot
        self.own: dict[str, CameraInfo] = dict(robot.description.cameras)
        self.scene: dict[str, CameraInfo] = dict(handshake.global_cameras)
        self._keys = camera_keys(handshake)

    @property
    def names(self) -> list[str]:
        """Return all names, those of the robot first."""
        return [*self.own, *(name for name in self.scene if name not in self.own)]

    def find(self, name: str) -> CameraInfo:
        """
        Return a camera.

        :raises UnknownName: when there is none.
        """
        camera = self.own.get(name) or self.scene.get(name)
        if camera is None:
            raise UnknownName('camera', name, self.names)
        return camera

    def compiled(self, name: str) -> str:
        """Return the compiled name of a camera."""
        return self._robot.compiled(name) if name in self.own else name

    def key(self, name: str) -> str:
        """Return the name of a camera in a step request."""
        return self._keys[self._robot.prefix if name in self.own else '', name]

    def aligned_depth(self, name: str) -> str | None:
        """Return the depth camera with the pose, the view and the size of a colour camera."""
        colour, view = self.find(name), self._model(name)
        for other in self.names:
            depth = self.find(other)
            fits = depth.mode == 'depth' and depth.resolution == colour.resolution
            if fits and _same_view(view, self._model(other)):
                return other
        return None

    def _model(self, name: str) -> ModelCamera:
        compiled = self.compiled(name)
        return next(c for c in self._robot.world.cameras if c.compiled == compiled)


def camera_keys(handshake: Handshake) -> dict[tuple[str, str], str]:
    """
    Return (prefix, or '' for the scene, and local name) -> name in a step request.

    A name that an earlier camera has is requested as ``{prefix}/{name}``.
    """
    keys: dict[tuple[str, str], str] = {}
    owners = [(prefix, robot.cameras) for prefix, robot in handshake.articulations.items()]
    for prefix, cameras in [*owners, ('', handshake.global_cameras)]:
        for name in cameras:
            taken = name in keys.values()
            keys[prefix, name] = f'{prefix or "scene"}/{name}' if taken else name
    return keys


def _same_view(one: ModelCamera, two: ModelCamera) -> bool:
    return one.body == two.body and all(
        np.abs(np.subtract(a, b)).max() < _SAME
        for a, b in (
            (one.pose.position, two.pose.position),
            (one.pose.orientation, two.pose.orientation),
            (one.fovy, two.fovy),
        )
    )


__all__ = ['CameraTable', 'camera_keys']
