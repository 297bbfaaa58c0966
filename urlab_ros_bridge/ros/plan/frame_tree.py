# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The frames of one robot, from the compiled model.

Bodies, sites with sensors, and cameras become frames named as in the model, without the robot's
prefix.  What cannot move against its parent gives a static transform.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from typing import NamedTuple

from urlab_ros_bridge.geometry import BODY_TO_OPTICAL
from urlab_ros_bridge.geometry import CAMERA_TO_BODY
from urlab_ros_bridge.geometry import CAMERA_TO_OPTICAL
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import Quaternion
from urlab_ros_bridge.geometry import SITE_TO_RANGE
from urlab_ros_bridge.geometry import Vector
from urlab_ros_bridge.model import Body
from urlab_ros_bridge.model import RobotModel
from urlab_ros_bridge.model import WorldModel

_TO_BODY = Pose(orientation=CAMERA_TO_BODY)
_TO_OPTICAL = Pose(orientation=CAMERA_TO_OPTICAL)
_BODY_TO_OPTICAL = Pose(orientation=BODY_TO_OPTICAL)
_TO_RANGE = Pose(orientation=SITE_TO_RANGE)


class StaticTransform(NamedTuple):
    """Pose of `child` in `parent`: m, quaternion xyzw."""

    parent: str
    child: str
    position: Vector
    orientation: Quaternion


@dataclass(slots=True)
class FrameTree:
    """
    The frames of one robot.

    :ivar base: frame of the base.
    :ivar static: transforms for /tf_static, parents first.
    :ivar mount: pose of the base in the world (frame name as given) when the base has no joint,
        else None.
    :ivar bodies, sites, cameras, optical, ranges: id in the model -> frame; `optical` is the
        optical frame of a camera, `ranges` has its x axis along the beam of a rangefinder.
    """

    base: str
    static: list[StaticTransform] = field(default_factory=list)
    mount: StaticTransform | None = None
    bodies: dict[int, str] = field(default_factory=dict)
    sites: dict[int, str] = field(default_factory=dict)
    cameras: dict[int, str] = field(default_factory=dict)
    optical: dict[int, str] = field(default_factory=dict)
    ranges: dict[int, str] = field(default_factory=dict)


def static_transforms(
    robot: RobotModel,
    base: Body,
    frames: Mapping[str, str] | None = None,
    *,
    base_frame: str = '',
    frame_prefix: str = '',
    world_frame: str = 'map',
    exclude: Iterable[str] = (),
    sites: Iterable[str] = (),
) -> FrameTree:
    """
    Find the frames of one robot.

    :param base: the body that the tree begins with.
    :param frames: local name of a body, site or camera -> frame name; ``base`` is left out.
        ``CAMERA/optical`` and ``SITE/range`` name the frames of images and of beams.  All but
        bodies may be given the frame of a body.
    :param base_frame: frame of the base; empty: as in `frames`, else the name of the body.
    :param frame_prefix: put before every name but `world_frame`.
    :param sites: local names of those that get a frame without a sensor of the model.
    :param exclude: names, without `frame_prefix`, that no frame may get: odom and the like.
    """
    builder = _FrameTreeBuilder(robot, dict(frames or {}), frame_prefix, set(exclude))
    if base_frame:
        builder.renamed[robot.name_of(base)] = base_frame
    builder.renamed.pop('base', None)
    builder.bodies(base, world_frame)
    builder.sites(set(sites))
    builder.cameras()
    return builder.tree


def scene_camera_transforms(
    world: WorldModel, frames: Mapping[str, str], world_frame: str
) -> list[StaticTransform]:
    """
    Return where the optical frames of cameras that belong to no robot are in the world.

    Cameras that move, or follow something, have no fixed place and are left out.

    :param frames: compiled name of a camera -> its optical frame.
    """
    return [
        StaticTransform(
            world_frame,
            frames[camera.compiled],
            *world.reference_pose(camera.body).then(camera.pose).then(_TO_OPTICAL),
        )
        for camera in world.cameras
        if camera.compiled in frames and camera.is_fixed and world.is_static(camera.body)
    ]


def optical_frame(camera_frame: str) -> str:
    """
    Return the name of a camera's optical frame.

    >>> optical_frame('front_rgb'), optical_frame('camera_link')
    ('front_rgb_optical_frame', 'camera_optical_frame')
    """
    for suffix in ('_link', '_frame'):
        camera_frame = camera_frame.removesuffix(suffix)
    return f'{camera_frame}_optical_frame'


class _FrameTreeBuilder:
    """Collects the frames, and keeps their names apart."""

    def __init__(
        self, robot: RobotModel, renamed: dict[str, str], frame_prefix: str, taken: set[str]
    ) -> None:
        self.robot = robot
        self.renamed = renamed
        self.frame_prefix = frame_prefix
        self.taken = taken
        self.tree = FrameTree('')

    def name(self, wanted: str, kind: str) -> str:
        """Return a free frame name: a site or camera may be called like its body."""
        wanted = wanted.strip('/')
        while not wanted or wanted in self.taken:
            wanted = f'{wanted}_{kind}' if wanted else kind
        self.taken.add(wanted)
        return self.frame_prefix + wanted

    def add(self, key: str, default: str, kind: str, parent: str, pose: Pose) -> str:
        """Return the frame of a site or camera: that of a body if one is given, else a new one."""
        given = self.renamed.get(key, default)
        if key in self.renamed and self.frame_prefix + given in self.tree.bodies.values():
            return self.frame_prefix + given
        frame = self.name(given, kind)
        self.tree.static.append(StaticTransform(parent, frame, *pose))
        return frame

    def body(self, body: Body, kind: str) -> str:
        """Return a new frame for a body."""
        local = self.robot.name_of(body)
        return self.name(self.renamed.get(local, local), kind)

    def bodies(self, base: Body, world_frame: str) -> None:
        world, tree = self.robot.world, self.tree
        tree.base = tree.bodies[base.id] = self.body(base, 'body')
        if not base.dofs:
            tree.mount = StaticTransform(world_frame, tree.base, *world.reference_pose(base.id))
        for body in world.subtree(base.id)[1:]:
            parent = tree.bodies[body.parent]
            child = self.body(body, f'body_{body.id}')
            tree.bodies[body.id] = child
            if not body.moves:
                tree.static.append(StaticTransform(parent, child, *body.pose))

    def sites(self, names: set[str]) -> None:
        """Add the sites of these names, and those that sensors are attached to or refer to."""
        world, tree = self.robot.world, self.tree
        used: dict[int, set[str]] = {
            site.id: set() for site in world.sites if self.robot.name_of(site) in names
        }
        for sensor in world.sensors:
            if sensor.object_kind == 'site':
                used.setdefault(sensor.object_id, set()).add(sensor.kind)
            if sensor.reference_kind == 'site':
                used.setdefault(sensor.reference_id, set())
        for index in sorted(used):
            site = world.sites[index]
            parent = tree.bodies.get(site.body)
            if parent is None:
                continue
            name = self.robot.name_of(site)
            frame = tree.sites[index] = self.add(name, name, 'site', parent, site.pose)
            if 'rangefinder' in used[index]:
                beam = f'{frame.removeprefix(self.frame_prefix)}_range'
                tree.ranges[index] = self.add(f'{name}/range', beam, 'frame', frame, _TO_RANGE)

    def cameras(self) -> None:
        tree = self.tree
        for camera in self.robot.world.cameras:
            parent = tree.bodies.get(camera.body)
            # A camera that follows something has no fixed pose in its body.
            if parent is None or not camera.is_fixed:
                continue
            name, place = self.robot.name_of(camera), camera.pose.then(_TO_BODY)
            frame = tree.cameras[camera.id] = self.add(name, name, 'camera', parent, place)
            optical = optical_frame(frame.removeprefix(self.frame_prefix))
            tree.optical[camera.id] = self.add(
                f'{name}/optical', optical, 'camera', frame, _BODY_TO_OPTICAL
            )
