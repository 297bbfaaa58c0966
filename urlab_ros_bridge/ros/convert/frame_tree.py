# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The frames of one robot, from the compiled model.

Bodies, sites with sensors, and cameras become frames named as in the model, without the robot's
prefix.  What cannot move against its parent gives a static transform; bodies with joints are
listed, so that their transforms can be published or left to robot_state_publisher.

mujoco itself is not imported: the caller has the model already.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
import math
import sys
from typing import Any
from typing import NamedTuple

from urlab_ros_bridge.ros.convert.frames import BODY_TO_OPTICAL
from urlab_ros_bridge.ros.convert.frames import CAMERA_TO_BODY
from urlab_ros_bridge.ros.convert.frames import compose
from urlab_ros_bridge.ros.convert.frames import IDENTITY
from urlab_ros_bridge.ros.convert.frames import multiply
from urlab_ros_bridge.ros.convert.frames import Quaternion
from urlab_ros_bridge.ros.convert.frames import Vector
from urlab_ros_bridge.ros.convert.frames import wxyz_to_xyzw
from urlab_ros_bridge.wire.errors import UnknownName

# A rangefinder looks along the z axis of its site, a sensor_msgs/Range along x.
SITE_TO_RANGE: Quaternion = (0.0, -math.sqrt(0.5), 0.0, math.sqrt(0.5))

_ORIGIN: Vector = (0.0, 0.0, 0.0)
_FIXED_CAMERA = 'mjCAMLIGHT_FIXED'


class StaticTransform(NamedTuple):
    """Pose of `child` in `parent`: m, quaternion xyzw."""

    parent: str
    child: str
    position: Vector
    orientation: Quaternion


class MovingBody(NamedTuple):
    """A body with joints: its frame, its parent's frame, and its id in the model."""

    parent: str
    child: str
    body_id: int


@dataclass(slots=True)
class FrameTree:
    """
    The frames of one robot.

    :ivar base: frame of the base.
    :ivar static: transforms for /tf_static, parents first.
    :ivar moving: bodies below the base that have joints, parents first.
    :ivar mount: pose of the base in the world (frame name as given) when the base has no joint,
        else None.
    :ivar bodies, sites, cameras, optical, ranges: id in the model -> frame; `optical` is the
        optical frame of a camera, `ranges` has its x axis along the beam of a rangefinder.
    """

    base: str
    static: list[StaticTransform] = field(default_factory=list)
    moving: list[MovingBody] = field(default_factory=list)
    mount: StaticTransform | None = None
    bodies: dict[int, str] = field(default_factory=dict)
    sites: dict[int, str] = field(default_factory=dict)
    cameras: dict[int, str] = field(default_factory=dict)
    optical: dict[int, str] = field(default_factory=dict)
    ranges: dict[int, str] = field(default_factory=dict)

    def in_base(self, frame: str) -> tuple[Vector, Quaternion] | None:
        """Return the fixed pose of a frame in the base, or None when a joint lies between."""
        parents = {transform.child: transform for transform in self.static}
        pose: tuple[Vector, Quaternion] = (_ORIGIN, IDENTITY)
        while frame != self.base:
            transform = parents.get(frame)
            if transform is None:
                return None
            pose = compose(transform.position, transform.orientation, *pose)
            frame = transform.parent
        return pose


def static_transforms(
    model: Any,
    prefix: str,
    base_body: str,
    frames: Mapping[str, str] | None = None,
    *,
    base_frame: str = '',
    frame_prefix: str = '',
    world_frame: str = 'map',
    exclude: Sequence[str] = (),
) -> FrameTree:
    """
    Find the frames of one robot.

    :param model: mujoco.MjModel.
    :param prefix: of the robot; compiled names start with ``{prefix}_``.  Empty: no prefix.
    :param base_body: local name of the base.
    :param frames: local name of a body, site or camera -> frame name; ``base`` is left out.
    :param base_frame: frame of the base; empty: as in `frames`, else the name of the body.
    :param frame_prefix: put before every name but `world_frame`.
    :param exclude: names, without `frame_prefix`, that no frame may get: odom and the like.
    :raises UnknownName: when there is no such body.
    """
    names = [_local(model.body(index).name, prefix) for index in range(model.nbody)]
    base_id = _base_id(model, prefix, base_body, names)
    builder = _Builder(model, prefix, dict(frames or {}), frame_prefix, set(exclude))
    if base_frame:
        builder.renamed[names[base_id]] = base_frame
    builder.renamed.pop('base', None)
    builder.bodies(base_id, names, world_frame)
    builder.sites()
    builder.cameras()
    return builder.tree


def enumeration(model: Any, name: str) -> Any:
    """Return an enumeration such as mjtSensor of the mujoco module that made the model."""
    return getattr(sys.modules[type(model).__module__.partition('.')[0]], name)


def optical_frame(camera_frame: str) -> str:
    """
    Return the name of a camera's optical frame.

    >>> optical_frame('front_rgb'), optical_frame('camera_link')
    ('front_rgb_optical_frame', 'camera_optical_frame')
    """
    for suffix in ('_link', '_frame'):
        camera_frame = camera_frame.removesuffix(suffix)
    return f'{camera_frame}_optical_frame'


def _local(name: str, prefix: str) -> str:
    return name.removeprefix(f'{prefix}_') if prefix else name


def _base_id(model: Any, prefix: str, base_body: str, names: list[str]) -> int:
    wanted = f'{prefix}_{base_body}' if prefix else base_body
    for index in range(model.nbody):
        if model.body(index).name == wanted:
            return index
    raise UnknownName(
        'body',
        base_body,
        [name for index, name in enumerate(names) if model.body(index).name != name or not prefix],
    )


class _Builder:
    """Collects the frames, and keeps their names apart."""

    def __init__(
        self, model: Any, prefix: str, renamed: dict[str, str], frame_prefix: str, taken: set[str]
    ) -> None:
        self.model = model
        self.prefix = prefix
        self.renamed = renamed
        self.frame_prefix = frame_prefix
        self.taken = taken
        self.tree = FrameTree('')

    def name(self, local: str, kind: str) -> str:
        """Return a free frame name: a site or camera may be called like its body."""
        wanted = self.renamed.get(local, local).strip('/')
        while not wanted or wanted in self.taken:
            wanted = f'{wanted}_{kind}' if wanted else kind
        self.taken.add(wanted)
        return self.frame_prefix + wanted

    def bodies(self, base_id: int, names: list[str], world_frame: str) -> None:
        model, tree = self.model, self.tree
        tree.base = tree.bodies[base_id] = self.name(names[base_id], 'body')
        if not model.body_dofnum[base_id]:
            tree.mount = StaticTransform(world_frame, tree.base, *pose_in_world(model, base_id))
        # Parents have lower ids than their children.
        for index in range(base_id + 1, model.nbody):
            parent = tree.bodies.get(int(model.body_parentid[index]))
            if parent is None:
                continue
            child = tree.bodies[index] = self.name(names[index], f'body_{index}')
            if model.body_dofnum[index] or model.body_mocapid[index] >= 0:
                tree.moving.append(MovingBody(parent, child, index))
            else:
                self.add(parent, child, model.body_pos[index], model.body_quat[index])

    def sites(self) -> None:
        model, tree = self.model, self.tree
        objects, sensors = enumeration(model, 'mjtObj'), enumeration(model, 'mjtSensor')
        site = int(objects.mjOBJ_SITE)
        used: dict[int, set[int]] = {}
        for index in range(model.nsensor):
            if model.sensor_objtype[index] == site:
                types = used.setdefault(int(model.sensor_objid[index]), set())
                types.add(int(model.sensor_type[index]))
            if model.sensor_reftype[index] == site:
                used.setdefault(int(model.sensor_refid[index]), set())
        for index in sorted(used):
            parent = tree.bodies.get(int(model.site_bodyid[index]))
            if parent is None:
                continue
            frame = self.name(_local(model.site(index).name, self.prefix), 'site')
            tree.sites[index] = frame
            self.add(parent, frame, model.site_pos[index], model.site_quat[index])
            if int(sensors.mjSENS_RANGEFINDER) in used[index]:
                beam = self.name(f'{frame.removeprefix(self.frame_prefix)}_range', 'frame')
                tree.ranges[index] = beam
                tree.static.append(StaticTransform(frame, beam, _ORIGIN, SITE_TO_RANGE))

    def cameras(self) -> None:
        model, tree = self.model, self.tree
        fixed = int(getattr(enumeration(model, 'mjtCamLight'), _FIXED_CAMERA))
        for index in range(model.ncam):
            parent = tree.bodies.get(int(model.cam_bodyid[index]))
            # A camera that follows something has no fixed pose in its body.
            if parent is None or model.cam_mode[index] != fixed:
                continue
            frame = self.name(_local(model.camera(index).name, self.prefix), 'camera')
            optical = self.name(optical_frame(frame.removeprefix(self.frame_prefix)), 'camera')
            tree.cameras[index], tree.optical[index] = frame, optical
            turned = multiply(wxyz_to_xyzw(model.cam_quat[index].tolist()), CAMERA_TO_BODY)
            position = tuple(model.cam_pos[index].tolist())
            tree.static.append(StaticTransform(parent, frame, position, turned))
            tree.static.append(StaticTransform(frame, optical, _ORIGIN, BODY_TO_OPTICAL))

    def add(self, parent: str, child: str, position: Any, quaternion_wxyz: Any) -> None:
        self.tree.static.append(
            StaticTransform(
                parent, child, tuple(position.tolist()), wxyz_to_xyzw(quaternion_wxyz.tolist())
            )
        )


def pose_in_world(model: Any, body: int) -> tuple[Vector, Quaternion]:
    """Return the pose of a body in the reference configuration."""
    pose: tuple[Vector, Quaternion] = (_ORIGIN, IDENTITY)
    while body:
        pose = compose(
            model.body_pos[body].tolist(), wxyz_to_xyzw(model.body_quat[body].tolist()), *pose
        )
        body = int(model.body_parentid[body])
    return pose
