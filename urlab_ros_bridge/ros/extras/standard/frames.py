# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Frames of requests: the world, the bases of robots, and entities by their names.

Poses are pairs of a position, m, and a quaternion xyzw.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from collections.abc import Sequence
import math
from typing import Any

from urlab_ros_bridge.client.ops import EntityState
from urlab_ros_bridge.geometry import compose
from urlab_ros_bridge.geometry import IDENTITY
from urlab_ros_bridge.geometry import normalize
from urlab_ros_bridge.geometry import Quaternion
from urlab_ros_bridge.geometry import rotate
from urlab_ros_bridge.geometry import Vector
from urlab_ros_bridge.geometry import wxyz_to_xyzw
from urlab_ros_bridge.ros.extras.standard.base import SimulationContext
from urlab_ros_bridge.ros.extras.standard.results import StandardRejected
from urlab_ros_bridge.ros.plan.parameters import NamesParameters
from urlab_ros_bridge.ros.plan.parameters import WheelOdometryParameters
from urlab_ros_bridge.wire.errors import list_names

Pose = tuple[Vector, Quaternion]

WORLD = 'world'
ORIGIN: Pose = ((0.0, 0.0, 0.0), IDENTITY)
# A quaternion typed with two digits is this far from unit length.
_TOLERANCE = 0.1


def frame_pose(context: SimulationContext, frame: str, invalid: int) -> Pose:
    """
    Return where a frame is in the world.

    :param invalid: result of the refusal when there is no such frame; it names those that are.
    """
    robots = context.plan.robots
    still = {'', WORLD, context.settings(NamesParameters).map_frame}
    odoms = _owners((robot.frames.odom, robot.prefix) for robot in robots)
    if not context.settings(WheelOdometryParameters).drifts:
        still |= {robot.frames.odom for robot in robots}
        odoms = {}
    if frame in still:
        return ORIGIN
    if frame in odoms:
        return _odom_pose(context, odoms[frame], invalid)
    entities = context.client.get_entities()
    owners = _owners((robot.frames.base, robot.prefix) for robot in robots)
    name = frame if frame in entities else owners.get(frame, '')
    if name not in entities:
        names = [*sorted(still - {''}), *odoms, *owners, *entities]
        raise StandardRejected(invalid, f'unknown frame {frame!r}; {list_names("frame", names)}')
    return pose_of(entities[name])


def _owners(frames: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the robot of each frame; a name that several robots give to a frame is none."""
    pairs = tuple(frames)
    counts = Counter(frame for frame, _ in pairs)
    return {frame: prefix for frame, prefix in pairs if counts[frame] == 1}


def _odom_pose(context: SimulationContext, prefix: str, invalid: int) -> Pose:
    """Return where odometry that drifts has its origin in the last tick."""
    found: list[Pose | None] = []

    def read() -> None:
        world = context.world.topics
        robot = None if world is None else world.state.robots.get(prefix)
        found.append(None if robot is None else robot.odom_in_world())

    context.run_in_stream_and_wait(read)
    if not found or found[0] is None:
        raise StandardRejected(
            invalid, f'the odometry of {prefix} is not known; use the map frame'
        )
    return found[0]


def pose_of(entity: EntityState) -> Pose:
    """Return the pose of an entity in the world."""
    x, y, z = entity.pos.tolist()
    return (x, y, z), wxyz_to_xyzw(entity.quat.tolist())


def pose_from_ros(pose: Any, invalid: int) -> Pose:
    """
    Read a geometry_msgs/Pose.

    :param invalid: result of the refusal of a pose that makes no sense.
    """
    point, turn = pose.position, pose.orientation
    position = (point.x, point.y, point.z)
    quaternion = (turn.x, turn.y, turn.z, turn.w)
    if not all(map(math.isfinite, (*position, *quaternion))):
        raise StandardRejected(invalid, f'the pose is not finite: {position} {quaternion}')
    length = math.hypot(*quaternion)
    if abs(length - 1.0) > _TOLERANCE:
        raise StandardRejected(
            invalid, f'the orientation {quaternion} has length {length:.3g}, must have length 1'
        )
    return position, normalize(quaternion)


def into_world(frame: Pose, pose: Pose) -> Pose:
    """Return a pose of a frame as one of the world."""
    return compose(*frame, *pose)


def turned(frame: Pose, vector: Sequence[float]) -> Vector:
    """Return a vector along the axes of a frame as one along those of the world."""
    return rotate(frame[1], vector)
