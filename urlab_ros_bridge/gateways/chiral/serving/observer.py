# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Observations from replies of the server; each one describes a single step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from urlab_ros_bridge.client.cameras.frames import copy_rgb
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.client.replies.observations import CameraImage
from urlab_ros_bridge.client.replies.observations import StepResult
from urlab_ros_bridge.gateways.chiral.errors import profile_key
from urlab_ros_bridge.gateways.chiral.profile.cameras import CameraTable
from urlab_ros_bridge.gateways.chiral.profile.defaults import NO_DEPTH
from urlab_ros_bridge.gateways.chiral.profile.profile import CameraProfile
from urlab_ros_bridge.gateways.chiral.profile.profile import Profile
from urlab_ros_bridge.gateways.chiral.profile.proprio import make_streams
from urlab_ros_bridge.gateways.chiral.protocol.codec import CameraView
from urlab_ros_bridge.gateways.chiral.protocol.codec import Observation
from urlab_ros_bridge.gateways.errors import RobotError
from urlab_ros_bridge.gateways.motion.target import Target
from urlab_ros_bridge.gateways.simulation.link import LIVE_CAMERAS
from urlab_ros_bridge.gateways.simulation.robot import ActuatedRobot
from urlab_ros_bridge.gateways.simulation.robot import WORLD
from urlab_ros_bridge.gateways.simulation.scene import intrinsics
from urlab_ros_bridge.gateways.simulation.scene import MirroredScene

# Beyond this fraction of the far plane there is no depth, only background.
_BACKGROUND = 0.999


@dataclass(slots=True)
class CameraSource:
    """
    The source of the images of one camera.

    :ivar colour_key: its name in a request, `depth_key` that of the depth camera or ''.
    """

    name: str
    compiled: str
    colour_key: str
    depth_key: str
    width: int
    height: int
    matrix: np.ndarray


class ImageBuffers:
    """Preallocated images of one connection; they hold the newest observation only."""

    def __init__(self, cameras: list[CameraSource]) -> None:
        self.image = {c.name: np.zeros((c.height, c.width, 3), np.uint8) for c in cameras}
        self.depth = {
            c.name: np.zeros((c.height, c.width), np.float32) for c in cameras if c.depth_key
        }
        self._mask = {name: np.zeros(array.shape, bool) for name, array in self.depth.items()}

    def copy_image(self, name: str, bgra: np.ndarray) -> np.ndarray:
        """Copy BGRA pixels, shape (height, width, 4), as RGB."""
        out = self.image[name]
        copy_rgb(out, bgra)
        return out

    def copy_depth(self, name: str, depth: np.ndarray, scale: float, far: float) -> np.ndarray:
        """Copy depth in metres; 0 for what is not finite, negative, or beyond `far`."""
        out, mask = self.depth[name], self._mask[name]
        if scale == 1.0:
            np.copyto(out, depth)
        else:
            np.multiply(depth, np.float32(scale), out=out)
        np.less(out, far, out=mask)  # false for NaN too
        np.logical_not(mask, out=mask)
        np.logical_or(mask, out < 0, out=mask)
        out[mask] = 0.0
        return out


class ObservationMaker:
    """
    Makes observations of a completed profile.  One for each thread.

    :ivar cameras: sources of the images.
    :ivar requested: cameras to request from the server, name -> ``sync``.
    """

    def __init__(
        self, profile: Profile, robot: ActuatedRobot, cameras: CameraTable, handshake: Handshake
    ) -> None:
        """
        Prepare everything that does not change.

        :raises UrlabError: when the profile does not fit the robot.
        """
        self._robot = robot
        self.scene = MirroredScene(handshake)
        self._streams = make_streams(profile, robot)
        self.cameras = [_source(camera, cameras) for camera in profile.cameras or []]
        self.requested = {
            key: 'sync' for c in self.cameras for key in (c.colour_key, c.depth_key) if key
        }
        self.images = ImageBuffers(self.cameras)
        named = profile.reference or robot.base_name
        with profile_key('reference'):
            self.reference = None if named == WORLD else robot.frame(named)
        self._scale = 0.01 if handshake.depth_unit == 'cm' else 1.0
        # Our server sends metres with 0 for the background, which is what the protocol wants.
        self._depth_is_clean = self._scale == 1.0 and LIVE_CAMERAS in handshake.extensions
        self._shown: StepResult | None = None
        model = handshake.model
        self._far = float(model.vis.map.zfar * model.stat.extent) * _BACKGROUND

    def observe(
        self, seen: StepResult, target: Target, stamp: float, extra: dict[str, Any]
    ) -> Observation:
        """
        Return the observation of a reply; its arrays are valid until the next call.

        :param target: the setpoint in force; `stamp` goes to every timestamp.
        :raises RobotError: when an image is missing.
        """
        state = seen.articulations[self._robot.prefix]
        if seen is not self._shown:
            self._shown = None  # until everything is copied
            self.scene.update(seen)
            self._copy_images(seen)
            self._shown = seen
        return Observation(
            stamp,
            [self._view(camera, stamp) for camera in self.cameras],
            {
                name: np.asarray(read(state, self.scene, target), np.float32)
                for name, read in self._streams.items()
            },
            extra,
        )

    def _copy_images(self, seen: StepResult) -> None:
        for camera in self.cameras:
            colour = self._image(seen, camera, camera.colour_key, 'bgra8')
            self.images.copy_image(camera.name, colour)
            if camera.depth_key:
                depth = self._image(seen, camera, camera.depth_key, 'float32')
                if self._depth_is_clean:
                    self.images.depth[camera.name] = depth
                    continue
                self.images.copy_depth(camera.name, depth, self._scale, self._far)

    def _view(self, camera: CameraSource, stamp: float) -> CameraView:
        pose = self.scene.camera_matrix(camera.compiled, self.reference)
        image, depth = self.images.image[camera.name], self.images.depth.get(camera.name)
        return CameraView(camera.name, stamp, camera.matrix, pose, image, depth)

    @staticmethod
    def _image(seen: StepResult, camera: CameraSource, key: str, dtype: str) -> np.ndarray:
        frame: CameraImage | None = seen.cameras.get(key)
        if frame is None:
            raise RobotError(
                f'the server sent no image of camera {key!r} (sent: '
                f'{", ".join(seen.cameras) or "none"}); it may not render in this mode'
            )
        if (frame.dtype == 'float32') != (dtype == 'float32'):
            raise RobotError(f'camera {key!r} sends {frame.dtype}, expected {dtype}')
        if (frame.width, frame.height) != (camera.width, camera.height):
            raise RobotError(
                f'camera {key!r} sends {frame.width} x {frame.height} pixels, expected '
                f'{camera.width} x {camera.height}'
            )
        return frame.pixels


def _source(camera: CameraProfile, cameras: CameraTable) -> CameraSource:
    colour = cameras.find(camera.rgb)
    width, height = colour.resolution
    return CameraSource(
        name=camera.name,
        compiled=cameras.compiled(camera.rgb),
        colour_key=cameras.key(camera.rgb),
        depth_key='' if camera.depth == NO_DEPTH else cameras.key(camera.depth),
        width=width,
        height=height,
        matrix=intrinsics(width, height, colour.fovy),
    )
