# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Markers made of shapes, and an array of them whose poses change."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence

from geometry_msgs.msg import Point
from geometry_msgs.msg import Vector3
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker
from visualization_msgs.msg import MarkerArray

from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.ros.messages.base import header_to_ros
from urlab_ros_bridge.ros.messages.base import Values
from urlab_ros_bridge.ros.messages.geometry import pose_to_ros
from urlab_ros_bridge.ros.messages.geometry import PosesTemplate
from urlab_ros_bridge.ros.plan.description.appearance import AppearancePart
from urlab_ros_bridge.ros.plan.description.geometry import ShapeKind

_TYPES = {
    ShapeKind.BOX: Marker.CUBE,
    ShapeKind.SPHERE: Marker.SPHERE,
    ShapeKind.ELLIPSOID: Marker.SPHERE,
    ShapeKind.CYLINDER: Marker.CYLINDER,
    ShapeKind.MESH: Marker.MESH_RESOURCE,
}


def marker(
    frame: str,
    namespace: str,
    number: int,
    kind: int,
    *,
    pose: Pose | None = None,
    scale: Sequence[float] = (0.0, 0.0, 0.0),
    color: Sequence[float] = (0.0, 0.0, 0.0, 0.0),
    points: Iterable[Values] = (),
    stamp_ns: int = 0,
) -> Marker:
    """
    Return a marker that stays until it is changed or deleted.

    :param scale: m, as the kind demands; `color`: r, g, b, a from 0 to 1.
    """
    x, y, z = scale
    r, g, b, a = color
    return Marker(
        header=header_to_ros(stamp_ns, frame),
        ns=namespace,
        id=number,
        type=kind,
        pose=pose_to_ros(*(pose or Pose())),
        scale=Vector3(x=float(x), y=float(y), z=float(z)),
        color=ColorRGBA(r=float(r), g=float(g), b=float(b), a=float(a)),
        points=[Point(x=float(x), y=float(y), z=float(z)) for x, y, z in points],
    )


def part_marker(frame: str, namespace: str, number: int, part: AppearancePart) -> Marker:
    """Return the marker of a part of the scene, at its own pose."""
    shape = part.shape
    made = marker(
        frame,
        namespace,
        number,
        _TYPES[shape.kind],
        pose=part.pose,
        scale=shape.size,
        color=shape.color,
    )
    made.mesh_resource = part.uri
    return made


def delete_all(frame: str) -> Marker:
    """Return the marker that removes all others of its topic."""
    return Marker(header=header_to_ros(0, frame), action=Marker.DELETEALL)


class MarkersTemplate(PosesTemplate):
    """visualization_msgs/MarkerArray of markers that only move."""

    def __init__(self, markers: Sequence[Marker]) -> None:
        members = [f'markers[{index}]' for index in range(len(markers))]
        super().__init__(MarkerArray(markers=list(markers)), members, 'pose')
