# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Markers for RViz and Foxglove: markers/scene, static geoms, and markers/entities, what moves.

All markers are in one frame with the world's origin.  The scene is latched: it is sent to a new
subscriber, and again after time has jumped back, because RViz forgets all markers then.  Entities
are sent while they move.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from geometry_msgs.msg import Point
from geometry_msgs.msg import Vector3
import numpy as np
from rclpy.serialization import deserialize_message
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker
from visualization_msgs.msg import MarkerArray

from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feed import Feed
from urlab_ros_bridge.ros.features.feed import WorldTopics
from urlab_ros_bridge.ros.features.tick_state import EntityPose
from urlab_ros_bridge.ros.messages.base import header_to_ros
from urlab_ros_bridge.ros.messages.base import Values
from urlab_ros_bridge.ros.messages.geometry import pose_to_ros
from urlab_ros_bridge.ros.messages.geometry import PosesTemplate
from urlab_ros_bridge.ros.plan.description.appearance import AppearancePart
from urlab_ros_bridge.ros.plan.description.appearance import SceneLook
from urlab_ros_bridge.ros.plan.description.geometry import ShapeKind
from urlab_ros_bridge.ros.plan.parameters import MarkerParameters

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


class SceneMarkers:
    """The static geoms, in one message; later subscribers get it from the middleware."""

    def __init__(self, scene: SceneLook) -> None:
        markers = [
            part_marker(scene.frame, part.name, number, part)
            for number, part in enumerate(scene.static)
        ]
        # Another world may have shown more of them before.
        self._message = MarkerArray(markers=[delete_all(scene.frame), *markers])
        self._sent = False

    def clear(self) -> None:
        """Publish it again: time has jumped."""
        self._sent = False

    def build(self, stamp_ns: int) -> MarkerArray | None:
        """Return the message once."""
        if self._sent:
            return None
        self._sent = True
        return self._message


class EntityMarkers:
    """The markers of what moves."""

    def __init__(self, scene: SceneLook, entities: Mapping[str, EntityPose]) -> None:
        frame = scene.frame
        moving = {name: parts for name, parts in scene.entities.items() if name in entities}
        states = [entities[name] for name in moving]
        self.wire = [topic for state in states for topic in state.topics]
        self.feed: Feed | None = None
        self._sent = False
        self._states = states
        owners = [index for index, parts in enumerate(moving.values()) for _ in parts]
        self._owners = np.array(owners, np.intp)
        self._parts = np.array(
            [(*part.pose.position, *part.pose.orientation) for p in moving.values() for part in p]
        )
        markers = [
            part_marker(frame, name, number, part)
            for name, parts in moving.items()
            for number, part in enumerate(parts)
        ]
        self._template = MarkersTemplate(markers)
        self._first = [delete_all(frame)]
        self._places = np.full((len(states), 7), np.nan)
        self._last = np.zeros_like(self._places)

    def clear(self) -> None:
        """Publish them again: time has jumped."""
        self._sent = False

    def build(self, stamp_ns: int) -> Any:
        """Return the message, or None when nothing has moved and no one needs it again."""
        for row, state in zip(self._places, self._states, strict=True):
            pose = state.pose()
            if pose is not None:
                row[:3] = pose[0]
                row[3:6], row[6] = pose[1][1:], pose[1][0]
        grew = self.feed is not None and self.feed.has_new_subscriber
        if not np.isfinite(self._places).all():
            return None
        if self._sent and not grew and np.array_equal(self._places, self._last):
            return None
        self._last[:] = self._places
        self._sent = True
        poses = compose_rows(self._places[self._owners], self._parts)
        message: Any = self._template.update(stamp_ns, poses)
        if self._first:
            message = deserialize_message(message, MarkerArray)
            message.markers = [*self._first, *message.markers]
            self._first = []
        return message


def compose_rows(parents: np.ndarray, children: np.ndarray) -> np.ndarray:
    """
    Return the poses of children of children, row by row.

    :param parents: position and quaternion xyzw of length one, shape (n, 7), like `children`.
    """
    x, y, z, w = parents[:, 3:].T
    a, b, c, d = children[:, 3:].T
    found = np.empty_like(parents)
    found[:, 3:] = np.column_stack(
        [
            w * a + x * d + y * c - z * b,
            w * b - x * c + y * d + z * a,
            w * c + x * b - y * a + z * d,
            w * d - x * a - y * b - z * c,
        ]
    )
    axis, offset = parents[:, 3:6], children[:, :3]
    twice = 2.0 * np.cross(axis, offset)
    found[:, :3] = parents[:, :3] + offset + w[:, None] * twice + np.cross(axis, twice)
    return found


def world_feeds(world: WorldTopics) -> None:
    """Make the topics of the scene and of the entities, if the model shows anything of them."""
    if world.plan.scene.static:
        scene = SceneMarkers(world.plan.scene)
        world.feed(SCENE, scene.build, wire=(), memory=scene)
    entities = EntityMarkers(world.plan.scene, world.state.entities)
    if entities.wire:
        entities.feed = world.feed(ENTITIES, entities.build, wire=entities.wire, memory=entities)


_TYPE = ('visualization_msgs/msg/MarkerArray',)
SCENE = Topic(
    'markers/scene',
    _TYPE,
    'latched',
    when='static shapes',
    timing='once, and after a jump of time',
    switch='publish_markers',
)
ENTITIES = Topic(
    'markers/entities',
    _TYPE,
    'latched',
    when='movable bodies that are not robots',
    rate='marker_rate',
    switch='publish_markers',
)
FEATURE = Feature(
    'markers of the scene',
    MarkerParameters,
    group='Robot description and markers',
    topics=(SCENE, ENTITIES),
    world_feeds=world_feeds,
)
