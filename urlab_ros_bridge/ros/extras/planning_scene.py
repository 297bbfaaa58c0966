# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""planning_scene: what is no robot, as collision objects for MoveIt."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace
import math
from typing import Any

from geometry_msgs.msg import Point
import numpy as np
from shape_msgs.msg import Mesh
from shape_msgs.msg import MeshTriangle
from shape_msgs.msg import SolidPrimitive
from std_msgs.msg import ColorRGBA

from urlab_ros_bridge.client.model import Geom
from urlab_ros_bridge.client.model import read_world
from urlab_ros_bridge.client.model import RobotModel
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import pose_of
from urlab_ros_bridge.model.colors import Colors
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.features.feed import Publishers
from urlab_ros_bridge.ros.features.taps import TappedPublisher
from urlab_ros_bridge.ros.link.current_world import CurrentWorld
from urlab_ros_bridge.ros.messages.base import header_to_ros
from urlab_ros_bridge.ros.messages.geometry import pose_to_ros
from urlab_ros_bridge.ros.plan.description.appearance import scenery
from urlab_ros_bridge.ros.plan.description.geometry import Geometry
from urlab_ros_bridge.ros.plan.description.geometry import Shape
from urlab_ros_bridge.ros.plan.description.geometry import ShapeKind
from urlab_ros_bridge.ros.plan.description.meshes import sphere
from urlab_ros_bridge.ros.plan.description.meshes import surface_of
from urlab_ros_bridge.ros.plan.from_model import world_frame
from urlab_ros_bridge.ros.plan.plan import WorldPlan
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.wire.errors import UrlabError

# Smaller motions (m; half of an angle in rad) are not published: bodies at rest still tremble.
_STILL = 1e-3


@dataclass(frozen=True)
class PlanningSceneParameters:
    """Whether MoveIt gets the world."""

    publish_planning_scene: bool = key(
        False,
        'Publish planning_scene for MoveIt: everything solid that is no robot as collision '
        'objects, to each new subscriber and after each change of the world, and once a second '
        'the poses of those that have moved. Needs moveit_msgs.',
    )


@dataclass(frozen=True)
class Obstacle:
    """
    A collision object.

    :ivar message: a moveit_msgs/CollisionObject with its shapes.
    :ivar color: a moveit_msgs/ObjectColor.
    :ivar pose: of one that cannot move, in the world; None: that of the entity of its name.
    """

    message: Any
    color: Any
    pose: Pose | None

    def change(self, operation: str, stamp_ns: int, pose: Pose) -> Any:
        """Return the message that adds, moves or removes it."""
        full = self.message
        kind = type(full)
        change = full if operation == 'ADD' else kind(header=full.header, id=full.id)
        if operation == 'MOVE':
            change.primitive_poses, change.mesh_poses = full.primitive_poses, full.mesh_poses
        change.header = header_to_ros(stamp_ns, full.header.frame_id)
        change.operation = getattr(kind, operation)
        change.pose = pose_to_ros(*pose)
        return change


class PlanningSceneTopic(Part):
    """Publishes the obstacles of each world, and what changes of them, in the stream thread."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self._world = bridge.part(CurrentWorld)
        self._publisher: TappedPublisher | None = None
        self._obstacles: dict[str, Obstacle] = {}
        self._sent: dict[str, tuple[Obstacle, Pose]] = {}
        self._subscribers = 0
        bridge.wire_needs.append(self.wire_needs)
        if bridge.settings(PlanningSceneParameters).publish_planning_scene:
            self._publisher = Publishers(bridge.node).of(SCENE, SCENE.name)

    def wire_needs(self) -> set[bytes]:
        """Return the rows of entities, while there are subscribers."""
        if self._publisher is None or not self._publisher.get_subscription_count():
            return set()
        moves = any(obstacle.pose is None for obstacle in self._obstacles.values())
        return {b'scene/'} if moves else set()

    def take_world(self, plan: WorldPlan, handshake: Handshake | None) -> None:
        """
        Take the obstacles of another world.

        :raises UrlabError: when its model cannot be read; then there are none.
        """
        if handshake is None or self._publisher is None:
            return
        self._obstacles = {}
        frame = world_frame(plan, self._bridge.settings)
        self._obstacles = read_obstacles(handshake, frame)

    def every_second(self, now: float) -> None:
        """Publish everything to a new subscriber, and changes to the others."""
        if self._publisher is None:
            return
        before, self._subscribers = self._subscribers, self._publisher.get_subscription_count()
        if not self._subscribers:
            self._sent = {}
            return
        obstacles = self._obstacles
        places = {name: self._pose(name, each) for name, each in obstacles.items()}
        known = {name: (obstacles[name], pose) for name, pose in places.items() if pose}
        # Those of another world have no pose before its first tick.
        if len(known) == len(places):
            scene = self._scene(known, self._subscribers > before)
            if scene.world.collision_objects:
                self._publisher.publish(scene)

    def _pose(self, name: str, obstacle: Obstacle) -> Pose | None:
        world = self._world.topics
        if obstacle.pose is not None or world is None or name not in world.state.entities:
            return obstacle.pose
        try:
            found = world.state.entities[name].pose()
        except UrlabError:  # the row is malformed
            return None
        return None if found is None else pose_of(*found)

    def _scene(self, known: dict[str, tuple[Obstacle, Pose]], everything: bool) -> Any:
        """Return what has changed since the last message, or all, as a PlanningScene."""
        stamp_ns = self._bridge.timeline.stamp_ns or 0
        scene = load_interface(SCENE.types[0])(is_diff=True)
        scene.robot_state.is_diff = True
        changes = scene.world.collision_objects
        for name in self._sent.keys() - known.keys():
            obstacle, place = self._sent[name]
            changes.append(obstacle.change('REMOVE', stamp_ns, place))
        before, self._sent = {} if everything else self._sent, known
        for name, (obstacle, pose) in known.items():
            sent, place = before.get(name, (None, pose))
            if sent is not obstacle:
                scene.object_colors.append(obstacle.color)
                changes.append(obstacle.change('ADD', stamp_ns, pose))
            elif _has_moved(place, pose):
                changes.append(obstacle.change('MOVE', stamp_ns, pose))
            else:
                self._sent[name] = (obstacle, place)
        return scene


def _has_moved(one: Pose, other: Pose) -> bool:
    between = one.inverse().then(other)
    return math.hypot(*between.position) > _STILL or math.hypot(*between.orientation[:3]) > _STILL


def read_obstacles(handshake: Handshake, frame: str) -> dict[str, Obstacle]:
    """
    Return everything solid that is no robot, by name: an obstacle a body, or a geom of the world.

    :param frame: of their poses; its origin is that of the world.
    :raises InterfaceMissing: without moveit_msgs.
    :raises ModelUnavailable: when the model cannot be read here.
    """
    world = read_world(handshake)
    geometry = Geometry(world, Colors(handshake.model))
    owned = [
        [body.id for body in RobotModel(prefix, world).bodies.values()]
        for prefix in handshake.articulations
    ]
    static, moving = scenery(world, owned, handshake.entities)
    found: dict[str, Obstacle] = {}

    def add(name: str, parts: list[tuple[Pose, Geom]], pose: Pose | None) -> None:
        if parts:
            name = f'{name or "geom"}_{len(found)}' if not name or name in found else name
            found[name] = _obstacle(geometry, frame, name, parts, pose)

    for name, bodies in moving.items():
        places = [(world.reference_pose(body.id, bodies[0].id), body.id) for body in bodies]
        solid = [(pose, geom) for pose, body in places for geom in geometry.colliding(body)]
        add(name, solid, None)
    for body in static:
        solid = [(Pose(), geom) for geom in geometry.colliding(body.id)]
        if body.id:
            add(body.compiled, solid, world.reference_pose(body.id))
        else:
            for part in solid:
                add(part[1].compiled, [part], Pose())
    return found


def _obstacle(
    geometry: Geometry, frame: str, name: str, parts: list[tuple[Pose, Geom]], pose: Pose | None
) -> Obstacle:
    message = load_interface('moveit_msgs/msg/CollisionObject')(id=name)
    message.header.frame_id = frame
    shapes = [
        replace(shape, pose=place.then(shape.pose))
        for place, geom in parts
        for shape in geometry.shapes([geom], hull=True)
    ]
    for shape in shapes:
        place, (x, y, z) = pose_to_ros(*shape.pose), shape.size
        if shape.kind in _PRIMITIVES:
            kind, dimensions = _PRIMITIVES[shape.kind]
            solid = SolidPrimitive(type=kind, dimensions=dimensions(x, y, z))
            message.primitives.append(solid)
            message.primitive_poses.append(place)
        else:
            message.meshes.append(_mesh(geometry, shape))
            message.mesh_poses.append(place)
    r, g, b, a = map(float, shapes[0].color)
    color = load_interface('moveit_msgs/msg/ObjectColor')(id=name)
    color.color = ColorRGBA(r=r, g=g, b=b, a=a)
    return Obstacle(message, color, pose)


_PRIMITIVES = {
    ShapeKind.BOX: (SolidPrimitive.BOX, lambda x, y, z: [x, y, z]),
    ShapeKind.SPHERE: (SolidPrimitive.SPHERE, lambda x, y, z: [x / 2]),
    ShapeKind.CYLINDER: (SolidPrimitive.CYLINDER, lambda x, y, z: [z, x / 2]),
}


def _mesh(geometry: Geometry, shape: Shape) -> Mesh:
    is_mesh = shape.kind is ShapeKind.MESH
    model = geometry.world.model
    vertices, faces = surface_of(model, shape.mesh, hull=shape.hull) if is_mesh else sphere()
    return Mesh(
        vertices=[Point(x=x, y=y, z=z) for x, y, z in (vertices * np.array(shape.size)).tolist()],
        triangles=[MeshTriangle(vertex_indices=corners) for corners in faces.tolist()],
    )


SCENE = Topic(
    'planning_scene',
    ('moveit_msgs/msg/PlanningScene',),
    'report',
    when='solid scenery',
    timing='once a second, if anything has moved',
    switch='publish_planning_scene',
)
FEATURE = Feature(
    'planning scene',
    PlanningSceneParameters,
    group='What is published',
    topics=(SCENE,),
    attach=PlanningSceneTopic,
)
