# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The cameras to publish, with names and frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace

from urlab_ros_bridge.client.model import read_world
from urlab_ros_bridge.client.replies.handshake import CameraInfo
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.model import RobotModel
from urlab_ros_bridge.ros.parameters.settings import SettingsReader
from urlab_ros_bridge.ros.plan.frame_tree import FrameTree
from urlab_ros_bridge.ros.plan.frame_tree import optical_frame
from urlab_ros_bridge.ros.plan.names import ros_names
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.ros.plan.plan import WorldPlan
from urlab_ros_bridge.ros.topics.cameras.parameters import CameraParameters

# Unit of depth on the wire -> metres.
UNITS = {'m': 1.0, 'cm': 0.01, 'mm': 0.001}


@dataclass(frozen=True)
class CameraPlan:
    """
    One camera.

    :ivar topic: what all topics of the camera begin with, with a leading slash or relative to the
        node's namespace, e.g. `front_rgb` or `rover_1/front_rgb`.
    :ivar frame: its optical frame.
    :ivar metres: unit of its depth, in metres.
    :ivar color: for a depth camera: the colour camera with the same view, else None.
    """

    camera: CameraInfo
    topic: str
    frame: str
    metres: float
    color: CameraInfo | None = None


@dataclass(frozen=True)
class CamerasPlan:
    """
    All cameras.

    :ivar shm_dir: where the server keeps them in shared memory; after a restart elsewhere.
    """

    cameras: tuple[CameraPlan, ...] = ()
    shm_dir: str = field(default='', compare=False)


def plan_cameras(handshake: Handshake, world: WorldPlan, settings: SettingsReader) -> CamerasPlan:
    """Plan the cameras of the robots that are bridged, and of the scene."""
    options = settings(CameraParameters)
    if not options.publish_cameras:
        return CamerasPlan()
    unit = handshake.depth_unit if options.depth_unit == 'auto' else options.depth_unit
    found: list[CameraPlan] = []
    for robot in world.robots:
        found += _of_robot(handshake, robot, UNITS.get(unit, 1.0))
    frames = {name: optical_frame(name) for name in handshake.global_cameras}
    found += _named(handshake.global_cameras, '', frames, UNITS.get(unit, 1.0))
    return CamerasPlan(tuple(_apart(found)), handshake.shm_session_dir)


def _of_robot(handshake: Handshake, robot: RobotPlan, metres: float) -> list[CameraPlan]:
    articulation = handshake.articulations[robot.prefix]
    frames = _optical_frames(handshake, robot.prefix, robot.tree)
    start = robot.frames.base.removesuffix(robot.frames.base.rpartition('/')[2])
    for name in articulation.cameras:
        frames.setdefault(name, start + optical_frame(name))
    return _named(articulation.cameras, robot.namespace, frames, metres)


def _optical_frames(handshake: Handshake, prefix: str, tree: FrameTree) -> dict[str, str]:
    """Return local name of a camera -> optical frame, of those that the frame tree holds."""
    if not tree.optical:
        return {}
    robot = RobotModel(prefix, read_world(handshake))
    cameras = robot.world.cameras
    return {robot.name_of(cameras[index]): frame for index, frame in tree.optical.items()}


def _named(
    cameras: Mapping[str, CameraInfo], namespace: str, frames: Mapping[str, str], metres: float
) -> list[CameraPlan]:
    usable = {name: camera for name, camera in cameras.items() if camera.port is not None}
    topics = ros_names(usable)
    colors = {camera.depth_pair: camera for camera in usable.values() if camera.depth_pair}
    return [
        CameraPlan(
            camera,
            f'{namespace}/{topics[name]}' if namespace else topics[name],
            frames[name],
            metres,
            colors.get(name) if camera.mode == 'depth' else None,
        )
        for name, camera in usable.items()
    ]


def _apart(cameras: list[CameraPlan]) -> list[CameraPlan]:
    """Give cameras of the same topic names of their own: robots may share a namespace."""
    taken: set[str] = set()
    found = []
    for camera in cameras:
        topic = camera.topic
        while topic in taken:
            topic += '_'
        taken.add(topic)
        found.append(replace(camera, topic=topic))
    return found
